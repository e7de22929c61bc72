// Handles a host or peer that opens a 4-tuple for which a flow already exists.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/flows/ending/deferred_resets.h"
#include "relay/gateway/flows/ending/flow_ending.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/flows/transfer/flow_transfer.h"
#include "relay/gateway/flows/transfer/peer_epochs.h"
#include "relay/gateway/frames/open_metadata.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class FlowReopening {
 public:
  // All arguments must outlive this object.
  FlowReopening(RelayParts& parts, DeferredResets& resets, FlowEnding& ending,
                FlowTransfer& transfer, PeerEpochs& epochs)
      : parts_(parts), resets_(resets), ending_(ending), transfer_(transfer), epochs_(epochs) {}

  // The host opens the 4-tuple. Frees the slot if the old flow has ended or is in TIME-WAIT, so
  // that `syn` can begin a new flow. Returns false if the old flow is still needed.
  bool make_way(std::uint32_t slot, const wire::TcpHeader& syn, Instant now);
  // The peer opens the 4-tuple. If both hosts have opened the connection at once, makes the
  // existing flow use `stream`, and returns true.
  bool meet(std::uint32_t slot, LaneId lane, stp::StreamId stream, const OpenMetadata& metadata,
            Instant now);
  // The peer opens the 4-tuple anew. Removes the old flow if it has ended or is in TIME-WAIT. Also
  // removes it if this peer has opened it: then the client has opened the connection anew, and the
  // RESET of the old flow must have been lost.
  void supersede(std::uint32_t slot, LaneId lane, Instant now);

 private:
  void send_final_segment(Flow& f, Instant now);

  RelayParts& parts_;
  DeferredResets& resets_;
  FlowEnding& ending_;
  FlowTransfer& transfer_;
  PeerEpochs& epochs_;
};

}  // namespace satrelay::gateway
