// A host or the peer opens a 4-tuple that a flow in the table already has.
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
  // All of them must outlive it.
  FlowReopening(RelayParts& parts, DeferredResets& resets, FlowEnding& ending,
                FlowTransfer& transfer, PeerEpochs& epochs)
      : parts_(parts), resets_(resets), ending_(ending), transfer_(transfer), epochs_(epochs) {}

  // The host opens the 4-tuple. Frees the slot of a flow that has ended or is in TIME-WAIT, so that
  // `syn` may start its 4-tuple anew. False if the flow is still needed.
  bool make_way(std::uint32_t slot, const wire::TcpHeader& syn, Instant now);
  // The peer opens the 4-tuple. True: both hosts have opened the connection at once, and the flow
  // goes on with both streams.
  bool meet(std::uint32_t slot, LaneId lane, stp::StreamId stream, const OpenMetadata& metadata,
            Instant now);
  // The peer opens the 4-tuple anew. Our TIME-WAIT, on the client's side, makes way. So does a flow
  // that this peer opened: its client has begun again, and the RESET must have been lost.
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
