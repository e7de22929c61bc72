// Another program, run to its end: what it writes goes where a file descriptor says.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace satrelay::ctl {

// `arguments` begin with the path of the program; it sees nothing of this one's environment. Its
// standard output goes to `output`. "", or what went wrong: why it was not started, the first line
// that it wrote to standard error, or that it was ended because it took longer than `most` or the
// user has interrupted us.
std::string run_program(const std::vector<std::string>& arguments, int output,
                        std::chrono::milliseconds most);

}  // namespace satrelay::ctl
