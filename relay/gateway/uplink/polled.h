// What a look for the next frame to send has found.
#pragma once

#include <cstddef>
#include <cstdint>

namespace satrelay::gateway {

// Frames that the host of the engine keeps for it at the same time, at most.
inline constexpr std::size_t kMostHeldFrames = 4096;

struct Polled {
  enum class Kind : std::uint8_t {
    kNothing,  // nothing is to be sent now
    kWritten,  // a frame of `size` bytes stands in `out`
    kHeld,     // the frame that is kept in `slot` leaves by this port now
  };
  Kind kind = Kind::kNothing;
  std::size_t size = 0;
  std::size_t slot = 0;
};

}  // namespace satrelay::gateway
