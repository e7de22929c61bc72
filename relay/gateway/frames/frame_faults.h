// Finds properties of a single frame that decide how it is handled, and expresses them as counters.
#pragma once

#include <optional>

#include "relay/gateway/counters.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

// The reason why the segment or datagram may be neither answered nor relayed; nullopt if its
// checksum is correct.
[[nodiscard]] std::optional<Counter> checksum_fault(const Frame& frame);
// Returns true if checksum_fault() finds no fault; otherwise counts the fault.
[[nodiscard]] inline bool passes_checksum(const Frame& frame, Counters& counters) {
  const auto fault = checksum_fault(frame);
  if (fault) counters.add(*fault);
  return !fault;
}

// The reason for bridging the frame. If the frame has IP options, or extension headers before the
// transport header, these are the reason. If it has none, the reason is `otherwise`.
Counter bridging_reason(const Frame& frame, Counter otherwise);

}  // namespace satrelay::gateway
