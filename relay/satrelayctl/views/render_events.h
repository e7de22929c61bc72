// Formats the stream of events as a table of 80 columns. The functions are pure: JSON in, text out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace satrelay::ctl {

std::string event_titles();  // the line with the titles of the columns
// Returns one line, or more if the text is long.
std::string render_event(const nlohmann::ordered_json& event);
// Returns one line about the stream of events itself, to be shown between events.
std::string render_notice(const std::string& text);

}  // namespace satrelay::ctl
