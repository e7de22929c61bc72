// Parses and prefetches the frames of a burst, before LanInput or WanInput handles them.
#pragma once

#include <cstddef>

#include "pep/base/bytes.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/handled_frame.h"

namespace satrelay::gateway {

// The maximum number of frames in one call of handle_burst().
inline constexpr std::size_t kBurstFrames = 32;

// Parses the frame into `room`, unless the caller has already parsed it.
inline Frame& look_at_arrived(const Arrived& arrived, Frame& room) {
  if (arrived.seen == nullptr) look_at(arrived.bytes, room);
  Frame& frame = arrived.seen == nullptr ? room : *arrived.seen;
  frame.checksum_verified = arrived.checksum == Checksum::kVerified;
  return frame;
}

inline void prefetch(ConstBytes bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes.size(); at += kLine) __builtin_prefetch(bytes.data() + at);
}

}  // namespace satrelay::gateway
