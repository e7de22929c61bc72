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
    kDropped,  // the frame that is kept in `slot` was dropped: it is to be thrown away
  };
  Kind kind = Kind::kNothing;
  std::size_t size = 0;
  std::size_t slot = 0;
  // kWritten: the port is to sum up from here to the frame's end, and to put the TCP checksum in
  // its field, where the sum of the pseudo-header stands. Zero: nothing is left to it.
  std::uint16_t checksum_from = 0;
};

// `size` may be zero.
constexpr Polled written(std::size_t size) {
  return size == 0 ? Polled{} : Polled{.kind = Polled::Kind::kWritten, .size = size};
}

}  // namespace satrelay::gateway
