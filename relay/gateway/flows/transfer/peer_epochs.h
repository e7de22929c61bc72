// Events that concern all flows of a peer, or all flows of the gateway. A flow handles these events
// before anything else happens to it. If nothing happens to a flow, a scan of all flows reaches it,
// some flows in each call.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/addresses/lan/presence_checks.h"
#include "relay/gateway/flows/ending/flow_ending.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/flows/transfer/flow_transfer.h"
#include "relay/gateway/flows/transfer/host_tracker.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/peer_epoch_log.h"

namespace satrelay::gateway {

class PeerEpochs {
 public:
  // All arguments must outlive this object.
  PeerEpochs(RelayParts& parts, const PresenceChecks& departures, HostTracker& hosts,
             FlowEnding& ending, FlowTransfer& transfer)
      : parts_(parts),
        departures_(departures),
        hosts_(hosts),
        ending_(ending),
        transfer_(transfer) {}

  // --- events ----------------------------------------------------------------------------------
  // The peer of the lane has restarted or closed. From now on each flow of the lane that had a
  // stream counts as ended.
  void upset(LaneId lane, PeerEpochLog::Kind kind);
  // Hosts have moved to other MACs, as LanNeighbours has found. Each flow handles that before
  // anything else happens to it.
  void note_moves() { ++events_; }
  // The settings that apply to flows have changed.
  void note_configuration() {
    ++configurations_;
    look_at_all();
  }
  // Makes go_on() visit each flow soon, some flows in each call.
  void look_at_all() { parts_.flows.begin_scan(); }
  void go_on(Instant now);

  // --- a flow ----------------------------------------------------------------------------------
  // Call this for a new flow, as earlier events do not concern it.
  void begin(Flow& f) const {
    f.handled.epochs = parts_.lane_of(f).epoch_log.count();
    f.handled.looked_at = events_;
    f.handled.configurations = configurations_;
  }
  // Call this before anything else happens to a flow.
  void catch_up(std::uint32_t slot, Instant now) {
    if (parts_.flows[slot].handled.looked_at != events_) [[unlikely]]
      bring_up_to_date(slot, now);
  }
  // Returns the flow of this open stream; kNoSlot if there is none.
  std::uint32_t find_open(LaneId lane, stp::StreamId stream, Instant now);

 private:
  void bring_up_to_date(std::uint32_t slot, Instant now);
  void look_at(std::uint32_t slot, Instant now);
  bool has_left(const Flow& f, Instant now) const;

  RelayParts& parts_;
  const PresenceChecks& departures_;
  HostTracker& hosts_;
  FlowEnding& ending_;
  FlowTransfer& transfer_;
  // Number of events so far that each flow must handle: a peer has restarted or closed, or hosts
  // have moved.
  std::uint32_t events_ = 0;
  std::uint16_t configurations_ = 0;
};

}  // namespace satrelay::gateway
