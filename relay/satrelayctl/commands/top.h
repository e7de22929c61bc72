// satrelayctl top: shows a gateway's traffic on a terminal, and updates it every second.
#pragma once

#include <filesystem>

namespace satrelay::ctl {

struct TopOptions {
  double interval = 1;  // seconds between two updates
  bool once = false;    // print one screen without control characters, for a pipe
};

// Runs until the user presses q or Ctrl-C, or until the gateway no longer answers. Returns the
// program's exit status. Throws StatsError.
int top(const std::filesystem::path& stats_socket, const TopOptions& options);

}  // namespace satrelay::ctl
