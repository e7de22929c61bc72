// Handles answers of servers to the SYNs of this gateway, if they arrive in another VLAN, show
// another connection, or take a path without the gateways.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/flows/ending/flow_ending.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/hosts/asked_servers.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/flows/transfer/flow_transfer.h"
#include "relay/gateway/flows/transfer/peer_epochs.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class AwaitedServers {
 public:
  // All arguments must outlive this object.
  AwaitedServers(RelayParts& parts, HashKey secret, FlowEnding& ending, FlowTransfer& transfer,
                 PeerEpochs& epochs)
      : parts_(parts), ending_(ending), transfer_(transfer), epochs_(epochs), asked_(secret) {}

  // The flow has sent its SYN to the server.
  void add(const FlowKey& key, std::uint32_t slot) { asked_.add(key, slot); }
  // Returns whether a segment of the server shows another connection with this 4-tuple. If so, the
  // segment has been handled.
  bool handle_other_connection(std::uint32_t slot, const wire::TcpHeader& header, Instant now);
  // Finds the flow for a segment that belongs to no flow, but may answer the flow's SYN from
  // another VLAN. Returns the slot of the flow; kNoSlot if there is none.
  std::uint32_t find_in_other_vlan(const FlowKey& key, const wire::TcpHeader& header) const;
  // Ends the flow that find_in_other_vlan() has found.
  void handle_other_vlan(std::uint32_t slot, const wire::TcpHeader& answer, Instant now);
  // The client behaves as if a second sender, besides this gateway, had answered it. So the peer is
  // asked whether the server has answered the peer (handle_doubt()).
  void doubt(Flow& f, Instant now);
  // The peer asks whether the server of this stream's flow has answered at all.
  void handle_doubt(LaneId lane, stp::StreamId stream, Instant now);

 private:
  RelayParts& parts_;
  FlowEnding& ending_;
  FlowTransfer& transfer_;
  PeerEpochs& epochs_;
  AskedServers asked_;
};

}  // namespace satrelay::gateway
