// Handles frames that arrive on the WAN port: passes STP packets to their sessions, and decides
// about all other frames.
#pragma once

#include <span>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/bridging/bridging.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/handled_frame.h"
#include "relay/gateway/input/arrived_frame.h"
#include "relay/gateway/input/station_watch.h"
#include "relay/gateway/lanes/deferred_work.h"
#include "relay/gateway/opening/between_listener.h"
#include "relay/gateway/parts/gateway_parts.h"

namespace satrelay::gateway {

class WanInput {
 public:
  // All arguments must outlive this object.
  WanInput(GatewayParts& parts, Bridging& bridging, DeferredWork& deferred, StationWatch& stations,
           BetweenListener& between)
      : parts_(parts),
        bridging_(bridging),
        deferred_(deferred),
        stations_(stations),
        between_(between) {}

  // Handles at most kBurstFrames frames.
  void handle_burst(std::span<const Arrived> frames, std::span<Handled> handled, Instant now);
  // Learns addresses from a frame. Call this for frames that another worker handles.
  void overhear(const Frame& frame, Instant now);
  // `reception` says how long the next frames may have waited at the port, and how many frames the
  // port has dropped since the start because it was full.
  void set_reception(const stp::Reception& reception) { reception_ = reception; }

 private:
  Verdict handle(const Frame& frame, ConstBytes bytes, Instant now);
  Verdict handle_stp(const Frame& frame, Instant now);
  // Whether the frame concerns a relayed connection, for example as an ICMP error or a fragment.
  bool concerns_relayed(const Frame& frame) const;

  GatewayParts& parts_;
  Bridging& bridging_;
  DeferredWork& deferred_;
  StationWatch& stations_;
  BetweenListener& between_;
  stp::Reception reception_;
};

}  // namespace satrelay::gateway
