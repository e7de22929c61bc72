// Runs another program to its end, and sends its output to a file descriptor.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace satrelay::ctl {

// The first of `arguments` is the path of the program. The program does not inherit our
// environment. Its standard output goes to `output`. It is killed if it takes longer than `most`,
// or if the user interrupts us. Returns "" if all went well. Otherwise returns why the program was
// not started, the first line that it wrote to standard error, or that it was killed.
std::string run_program(const std::vector<std::string>& arguments, int output,
                        std::chrono::milliseconds most);

}  // namespace satrelay::ctl
