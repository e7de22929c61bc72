// What satrelayctl tells a gateway over its control socket.
#pragma once

#include <filesystem>
#include <string>

namespace satrelay::ctl {

struct ControlTarget {
  std::filesystem::path stats;    // the gateway's stats socket
  std::filesystem::path control;  // its control socket
};

// Sends the line; the exit status of the program. What is wrong goes to stderr. Throws what
// send_control_command() throws.
int tell(const ControlTarget& target, const std::string& line);

// Sends the line, which asks for a drain, and prints how many flows are left until the gateway has
// stopped.
int drain(const ControlTarget& target, const std::string& line);

// Sends the line, which asks for a reload, and waits for what comes of it.
int reload(const ControlTarget& target, const std::string& line);

}  // namespace satrelay::ctl
