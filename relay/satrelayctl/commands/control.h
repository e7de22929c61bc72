// Sends satrelayctl's commands to a gateway's control socket.
#pragma once

#include <filesystem>
#include <string>

namespace satrelay::ctl {

struct ControlTarget {
  std::filesystem::path stats;    // the gateway's stats socket
  std::filesystem::path control;  // the gateway's control socket
};

// Sends the line, and returns the program's exit status. Errors from the gateway go to stderr.
// Throws the exceptions of send_control_command().
int tell(const ControlTarget& target, const std::string& line);

// Sends the line, which starts a drain, and prints the number of remaining flows until the gateway
// has stopped.
int drain(const ControlTarget& target, const std::string& line);

// Sends the line, which starts a reload, and waits for the result.
int reload(const ControlTarget& target, const std::string& line);

// Returns the option for an optional argument of a command, such as --timeout for "TIMEOUT".
std::string option_name(std::string name);

}  // namespace satrelay::ctl
