// satrelayctl events: shows the gateway's latest events, and with --follow also new events as they
// happen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace satrelay::ctl {

struct EventOptions {
  bool follow = false;
  std::string since;     // shows the events since this time; "" means the last events
  std::string severity;  // lowest severity of the events to show; "" means all
  std::optional<std::uint64_t> last;
  bool json = false;
};

// Returns the program's exit status. Ctrl-C ends `follow` without an error. Throws StatsError.
int events(const std::filesystem::path& stats_socket, const EventOptions& options);

}  // namespace satrelay::ctl
