// satrelayctl top: what a gateway does, anew every second, on a terminal.
#pragma once

#include <filesystem>

namespace satrelay::ctl {

struct TopOptions {
  double interval = 1;  // seconds
  bool once = false;    // one screen, without control characters, for a pipe
};

// Until q or Ctrl-C, or until the gateway is gone; the exit status of the program. Throws
// StatsError.
int top(const std::filesystem::path& stats_socket, const TopOptions& options);

}  // namespace satrelay::ctl
