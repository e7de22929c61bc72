// Ends flows to make room if there is none. The gateway ends a flow early only in two cases: the
// flow has made no progress for so long that TCP allows a host to abort the connection, or a host
// has already reset the connection.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/flows/ending/deferred_resets.h"
#include "relay/gateway/flows/ending/flow_ending.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/opening/flow_room.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/flows/transfer/peer_epochs.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class RoomMaker {
 public:
  // All arguments must outlive this object.
  RoomMaker(RelayParts& parts, const FlowRoom& room, DeferredResets& resets, FlowEnding& ending,
            PeerEpochs& epochs)
      : parts_(parts), room_(room), resets_(resets), ending_(ending), epochs_(epochs) {}

  // Call this if there is no room for one more flow between the host and the lane's peer. If
  // another flow has made no progress for long, that flow is ended soon, so that a later flow finds
  // room.
  void want(LaneId lane, const IpAddress& host) { wanted_ = Wanted{.lane = lane, .host = host}; }
  void handle_timeout(Instant now);
  Instant next_timeout() const { return wanted_ ? parts_.room_pace.next() : Instant::never(); }

 private:
  struct Wanted {
    LaneId lane;
    IpAddress host;
  };
  bool makes_room_for(const Flow& f, const Wanted& wanted, Counter lack) const;

  RelayParts& parts_;
  const FlowRoom& room_;
  DeferredResets& resets_;
  FlowEnding& ending_;
  PeerEpochs& epochs_;
  std::optional<Wanted> wanted_;
  std::uint32_t search_next_ = 0;  // slot at which the next search begins
};

}  // namespace satrelay::gateway
