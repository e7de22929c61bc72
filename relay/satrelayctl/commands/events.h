// satrelayctl events: what has happened, and with --follow what happens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace satrelay::ctl {

struct EventOptions {
  bool follow = false;
  std::string since;     // "": the last ones
  std::string severity;  // and what is worse; "": all
  std::optional<std::uint64_t> last;
  bool json = false;
};

// The exit status of the program; with `follow` that of Ctrl-C, which is no error. Throws
// StatsError.
int events(const std::filesystem::path& stats_socket, const EventOptions& options);

}  // namespace satrelay::ctl
