// Work that is done once for several consecutive frames of one flow or lane, and not for each
// frame. settle() does the work after the last of these frames, before any other frame is handled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "pep/base/time.h"
#include "relay/gateway/flows/table/flow_store.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/lanes/session_events.h"
#include "relay/gateway/parts/gateway_parts.h"
#include "relay/gateway/port_id.h"

namespace satrelay::gateway {

class DeferredWork {
 public:
  DeferredWork(GatewayParts& parts, SessionEvents& events) : parts_(parts), events_(events) {}

  // The port on which the last frames arrived.
  PortId port() const { return port_; }
  void begin(PortId port) { port_ = port; }

  bool is_empty() const { return flow_ == kNoSlot && packets_ == 0; }
  // The flow that has received segments and must be advanced; kNoSlot if there is none.
  std::uint32_t flow() const { return flow_; }
  void note_segments(std::uint32_t flow) { flow_ = flow; }
  // The lane on which the last packets arrived.
  LaneId lane() const { return lane_; }
  // Number of packets that have arrived on lane() since its events were last handled.
  std::size_t packets() const { return packets_; }
  void note_packet(LaneId lane) {
    lane_ = lane;
    ++packets_;
  }

  void settle(Instant now) {
    if (flow_ != kNoSlot) parts_.flows.transfer().advance(std::exchange(flow_, kNoSlot), now);
    if (packets_ == 0) return;
    events_.take(lane_, std::exchange(packets_, 0), now);
    parts_.flows.go_on(now);
  }
  // Call this before a segment of `flow` is handled. Calls settle() if another flow has deferred
  // work.
  void settle_unless(std::uint32_t flow, Instant now) {
    if (flow_ != flow) settle(now);
  }

 private:
  GatewayParts& parts_;
  SessionEvents& events_;
  PortId port_ = PortId::kLan;
  std::uint32_t flow_ = kNoSlot;
  LaneId lane_;
  std::size_t packets_ = 0;
};

}  // namespace satrelay::gateway
