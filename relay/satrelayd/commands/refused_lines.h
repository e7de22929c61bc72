// The lines of the log about a reload that is refused.
#pragma once

#include <string>
#include <vector>

namespace satrelay::satrelayd {

// Returns the first of `mistakes`, which are the lines of config::lines_of(), each cut to a maximum
// length. If it leaves lines out, a last line refers to `satrelayd --check`.
std::vector<std::string> refused_lines(const std::vector<std::string>& mistakes);

}  // namespace satrelay::satrelayd
