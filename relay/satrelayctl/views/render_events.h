// The stream of events as a table of 80 columns. Pure: JSON in, text out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace satrelay::ctl {

std::string event_titles();  // a line
// One line, or more if the text needs them.
std::string render_event(const nlohmann::ordered_json& event);
// One line about the stream itself, between its events.
std::string render_notice(const std::string& text);

}  // namespace satrelay::ctl
