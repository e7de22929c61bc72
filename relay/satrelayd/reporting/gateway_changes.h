// Counts the events after which the gateway looks for faults again, and hands over the
// configuration that it then judges.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "relay/doctor/taken_over.h"
#include "relay/ops/events/event.h"

namespace satrelay::satrelayd {

class GatewayChanges {
 public:
  using Running = std::shared_ptr<const ctl::doctor::TakenOver>;

  std::atomic<std::uint64_t> reloads = 0;  // configurations that were taken over
  std::atomic<std::uint64_t> others = 0;   // of peers and ports, and refused reloads

  // The configuration that the gateway works with.
  void take_over(Running next) {
    const std::lock_guard lock(mutex_);
    running_.swap(next);
  }
  Running running() const {
    const std::lock_guard lock(mutex_);
    return running_;
  }

  void note(ops::EventKind kind) {
    using enum ops::EventKind;
    if (kind == kReloadDone) ++reloads;
    const bool is_of_peer = kind >= kPeerAlive && kind <= kPeerUnlikeWorkers;
    const bool is_of_port = kind >= kPortUp && kind <= kPortUnfit;
    if (is_of_peer || is_of_port || kind == kReloadRefused) ++others;
  }

 private:
  mutable std::mutex mutex_;
  Running running_;
};

}  // namespace satrelay::satrelayd
