// Runs another program to its end. Its output goes to a file descriptor.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace satrelay::ctl {

// `arguments` begin with the path of the program. The program does not inherit our environment. Its
// standard output goes to `output`. Returns "", or what went wrong: why the program was not
// started, the first line that it wrote to standard error, or that it was ended. The program is
// killed if it takes longer than `most`, or if the user interrupts us.
std::string run_program(const std::vector<std::string>& arguments, int output,
                        std::chrono::milliseconds most);

}  // namespace satrelay::ctl
