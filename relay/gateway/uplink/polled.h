// The result of a poll for the next frame to send.
#pragma once

#include <cstddef>
#include <cstdint>

namespace satrelay::gateway {

// Maximum number of frames that the caller of the engine keeps for the engine at the same time.
inline constexpr std::size_t kMostHeldFrames = 4096;

struct Polled {
  enum class Kind : std::uint8_t {
    kNothing,  // there is no frame to send now
    kWritten,  // a frame of `size` bytes was written into `out`
    kHeld,     // send the frame that is kept in `slot` on this port now
    kDropped,  // free the frame that is kept in `slot`: it was dropped
  };
  Kind kind = Kind::kNothing;
  std::size_t size = 0;
  std::size_t slot = 0;
  // For kWritten: if this is not zero, the port must complete the TCP checksum. The TCP header
  // begins at this offset. Its checksum field contains the sum of the pseudo-header.
  std::uint16_t checksum_from = 0;
};

// `size` may be zero.
constexpr Polled written(std::size_t size) {
  return size == 0 ? Polled{} : Polled{.kind = Polled::Kind::kWritten, .size = size};
}

}  // namespace satrelay::gateway
