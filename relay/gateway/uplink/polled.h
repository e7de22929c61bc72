// The result of a look for the next frame to send.
#pragma once

#include <cstddef>
#include <cstdint>

namespace satrelay::gateway {

// The most frames that the caller of the engine keeps for it at the same time.
inline constexpr std::size_t kMostHeldFrames = 4096;

struct Polled {
  enum class Kind : std::uint8_t {
    kNothing,  // no frame to send now
    kWritten,  // a frame of `size` bytes stands in `out`
    kHeld,     // the frame that is kept in `slot` leaves by this port now
    kDropped,  // the frame that is kept in `slot` was dropped: throw it away
  };
  Kind kind = Kind::kNothing;
  std::size_t size = 0;
  std::size_t slot = 0;
  // kWritten: the port must complete the TCP checksum. It sums up the octets from here to the
  // frame's end, and puts the result into the checksum field, which holds the sum of the
  // pseudo-header. Zero: the checksum is complete.
  std::uint16_t checksum_from = 0;
};

// `size` may be zero.
constexpr Polled written(std::size_t size) {
  return size == 0 ? Polled{} : Polled{.kind = Polled::Kind::kWritten, .size = size};
}

}  // namespace satrelay::gateway
