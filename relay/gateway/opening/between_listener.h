// Learns from ARP and Neighbour Discovery which addresses are between the two gateways
// (addresses/between_gateways.h). If a host of the LAN asks for such an address, the answer arrives
// from the WAN sooner than any answer from a peer's LAN could.
#pragma once

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/addresses/between_gateways.h"
#include "relay/gateway/addresses/lan/lan_neighbours.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/opening/admission_control.h"
#include "relay/gateway/peers/far_gateway.h"
#include "relay/gateway/rules/claims.h"
#include "relay/gateway/rules/policy.h"

namespace satrelay::gateway {

class BetweenListener {
 public:
  // All arguments must outlive this object.
  BetweenListener(const Policy& policy, const Claims& claims, const LanNeighbours& lan,
                  const AdmissionControl& door, const FarGateways& peers, BetweenGateways& between)
      : policy_(policy),
        claims_(claims),
        lan_(lan),
        door_(door),
        peers_(peers),
        between_(between) {}

  // Handles a frame from the LAN, which may announce an address of its sender.
  void hear_own(const Frame& frame, Instant now);
  // Handles a frame from the LAN, which may be an ARP request or a neighbour solicitation.
  void hear_question(const Frame& frame, Instant now);
  // Handles a frame from the WAN, which may answer an ARP request or a neighbour solicitation.
  void hear_answer(const Frame& frame, Instant now);

 private:
  bool may_be_between(const IpAddress& address) const;

  const Policy& policy_;
  const Claims& claims_;
  const LanNeighbours& lan_;
  const AdmissionControl& door_;
  const FarGateways& peers_;
  BetweenGateways& between_;
};

}  // namespace satrelay::gateway
