// Counts the events after which the gateway looks for faults again.
#pragma once

#include <atomic>
#include <cstdint>

#include "relay/ops/events/event.h"

namespace satrelay::satrelayd {

struct GatewayChanges {
  std::atomic<std::uint64_t> reloads = 0;  // configurations that were taken over
  std::atomic<std::uint64_t> others = 0;   // of peers and ports, and refused reloads

  void note(ops::EventKind kind) {
    using enum ops::EventKind;
    if (kind == kReloadDone) ++reloads;
    const bool is_of_peer = kind >= kPeerAlive && kind <= kPeerUnlikeWorkers;
    const bool is_of_port = kind >= kPortUp && kind <= kPortUnfit;
    if (is_of_peer || is_of_port || kind == kReloadRefused) ++others;
  }
};

}  // namespace satrelay::satrelayd
