// Handles hosts that move with their MAC and their address to the LAN of the other gateway, as
// virtual machines do. Over a bridge the host's connections would go on. A relayed connection
// cannot go on: each host agreed about sequence numbers with the gateway on its own LAN, and now
// the two hosts speak to each other directly. So the gateways reset both.
//
// ARP and Neighbour Discovery are only hints, since any station can forge them. The gateway of the
// new LAN asks for the host on its LAN. If the host answers, that gateway reports the host to the
// gateway of the old LAN. The gateway of the old LAN then asks for the host on its own LAN. It ends
// the host's flows with that peer only if the host is silent there.
#pragma once

#include <cstddef>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/addresses/lan/presence_checks.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/host_arrival.h"
#include "relay/gateway/rules/policy.h"

namespace satrelay::gateway {

class HostMoves {
 public:
  HostMoves(RelayParts& parts, const RelayEnvironment& around, HashKey secret);

  // Checks of hosts of peers that seem to have moved to this LAN.
  const PresenceChecks& arrivals() const { return arrivals_; }
  // Checks of hosts of this LAN that, according to a peer, have moved to the peer's LAN.
  const PresenceChecks& departures() const { return departures_; }

  // Handles a frame from the LAN: its ARP or Neighbour Discovery may announce a host of a peer.
  void hear_told(const Frame& frame, Instant now);
  // Notes the sender of any frame from the LAN.
  void hear_sender(const wire::EthernetHeader& seen, Instant now) {
    if (departures_.asks()) [[unlikely]]
      departures_.hear_sender(seen, now);
  }
  // The peer of the lane reports that a host of this LAN has answered on the peer's LAN.
  void handle_arrival(LaneId id, const HostArrival& arrival, Instant now);
  // Returns true if a host has left this LAN, so that the flows must be checked.
  [[nodiscard]] bool handle_timeout(Instant now);
  Instant next_timeout() const {
    return earlier(arrivals_.next_timeout(), departures_.next_timeout());
  }
  // Writes the next ARP request or neighbour solicitation for the LAN. Returns its size; 0 if there
  // is none.
  std::size_t poll_frame(MutableBytes out, Instant now);

 private:
  bool understands_arrivals(FarGatewayId peer) const;
  void tell_arrival(const PresenceChecks::Check& check, Instant now);

  RelayParts& parts_;
  const Policy& policy_;
  PresenceChecks arrivals_;
  PresenceChecks departures_;
};

}  // namespace satrelay::gateway
