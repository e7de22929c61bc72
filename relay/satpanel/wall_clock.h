// The time of day, for events and notices.
#pragma once

#include <chrono>
#include <cstdint>

namespace satrelay::panel {

// Milliseconds since 1970, UTC.
inline std::uint64_t wall_clock_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

}  // namespace satrelay::panel
