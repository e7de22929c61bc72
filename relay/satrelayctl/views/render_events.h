// The stream of events as a table of 80 columns. Pure: JSON in, text out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace satrelay::ctl {

std::string event_titles();  // a line
// A line, and more where its words need them.
std::string render_event(const nlohmann::ordered_json& event);
// Something about the stream itself, between its events: a line.
std::string render_notice(const std::string& text);

}  // namespace satrelay::ctl
