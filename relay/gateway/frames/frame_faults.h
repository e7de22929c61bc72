// Properties of a single frame that decide its way, as counters.
#pragma once

#include <optional>

#include "relay/gateway/counters.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

// The reason not to answer or relay the segment or datagram; nullopt if its checksum is correct.
[[nodiscard]] std::optional<Counter> checksum_fault(const Frame& frame);
// The same; counts the reason.
[[nodiscard]] inline bool passes_checksum(const Frame& frame, Counters& counters) {
  const auto fault = checksum_fault(frame);
  if (fault) counters.add(*fault);
  return !fault;
}

// The reason for bridging the frame. Headers before the transport are a more exact reason than
// `otherwise`.
Counter bridging_reason(const Frame& frame, Counter otherwise);

}  // namespace satrelay::gateway
