// What a frame shows by itself that decides its way, as a counter.
#pragma once

#include <optional>

#include "relay/gateway/counters.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

// Why the segment or datagram must not be answered or relayed; nullopt if its checksum is right.
[[nodiscard]] std::optional<Counter> checksum_fault(const Frame& frame);

// Why it is bridged: what stands before the transport tells more than `otherwise`.
Counter bridging_reason(const Frame& frame, Counter otherwise);

}  // namespace satrelay::gateway
