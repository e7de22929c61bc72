// Decides which connections a peer may report: in an OPEN, in a list of flows, or as evidence. One
// end must be a host behind the peer, and the other end must be another host. The operator
// configures which addresses are behind which peer (`prefixes`). A peer cannot change this.
#pragma once

#include <cstddef>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/rules/policy.h"

namespace satrelay::gateway {

class Claims {
 public:
  // The two ends of a connection that a peer reports: `there` is on the peer's side, `here` on this
  // side.
  struct Ends {
    const IpAddress& there;
    const IpAddress& here;
    const wire::EthernetHeader& ethernet;  // header of the connection's frames, in either direction
  };

  // `policy` must outlive this object.
  Claims(const config::Gateway& config, const Policy& policy);

  // Whether `peer` may report such a connection. The second overload is for connections without a
  // known frame header.
  bool allow(FarGatewayId peer, const Ends& ends) const;
  bool allow(FarGatewayId peer, const IpAddress& there, const IpAddress& here) const;

  // Whether both addresses can be hosts. No peer accepts a connection if one of its ends is not a
  // host.
  bool are_hosts(const IpAddress& one, const IpAddress& other) const {
    return is_host(one) && is_host(other);
  }

  // Whether the operator has configured that `host` is behind a peer, and so not on this LAN. A
  // prefix of length 0 does not count, since it also contains the addresses of this LAN.
  bool is_behind_a_peer(const IpAddress& host) const;

 private:
  bool is_host(const IpAddress& address) const;

  const Policy& policy_;
  std::vector<IpAddress> gateways_;  // addresses of this gateway and of all peers, ascending
  IpAddress broadcast_;              // broadcast address of the gateway's own subnet
};

}  // namespace satrelay::gateway
