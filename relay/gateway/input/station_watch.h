// Records on which side of the gateway each station is. The side is the port on which frames of the
// station arrive.
#pragma once

#include <array>
#include <cstddef>

#include "pep/base/time.h"
#include "relay/gateway/addresses/filtering_database.h"
#include "relay/gateway/addresses/wan_node.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

class StationWatch {
 public:
  // All arguments must outlive this object. `stations` is shared by all workers.
  StationWatch(FilteringDatabase& stations, const WanNode& wan, Counters& counters)
      : stations_(stations), wan_(wan), counters_(counters) {}

  void hear(Side side, const Frame& frame, Instant now) {
    StationListener& listener = listeners_[static_cast<std::size_t>(side)];
    if (listener.has_just_heard(frame.ethernet, now)) return;
    if (frame.kind == FrameKind::kMalformed || wan_.is_own_mac(frame.ethernet.source)) return;
    if (listener.hear(stations_, side, frame.ethernet, now)) {
      counters_.add(Counter::kStationsOnBothSides);
    }
  }

 private:
  FilteringDatabase& stations_;
  const WanNode& wan_;
  Counters& counters_;
  std::array<StationListener, 2> listeners_;  // one listener for each side, indexed by Side
};

}  // namespace satrelay::gateway
