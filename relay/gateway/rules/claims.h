// Decides what a peer may claim about hosts, in an OPEN, in a list of flows and as evidence. A peer
// may speak only for hosts behind it, and only to hosts. The operator says which addresses are
// behind which peer (`prefixes`); a peer never does.
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
  // The ends of a connection that a peer reports: one on the peer's side, one on this side.
  struct Ends {
    const IpAddress& there;
    const IpAddress& here;
    const wire::EthernetHeader& ethernet;  // of frames of the connection, in either direction
  };

  // `policy` must outlive this object.
  Claims(const config::Gateway& config, const Policy& policy);

  // Whether `peer` may speak of such a connection. The second form is for two hosts without frames.
  bool allow(FarGatewayId peer, const Ends& ends) const;
  bool allow(FarGatewayId peer, const IpAddress& there, const IpAddress& here) const;

  // Whether both addresses are hosts. No peer accepts a connection if one end is not a host.
  bool are_hosts(const IpAddress& one, const IpAddress& other) const {
    return is_host(one) && is_host(other);
  }

  // Whether the operator says that `host` is behind a peer, and not on this LAN. A peer for
  // everything (a prefix of no bits) says nothing about a single host, since this LAN lies in that
  // prefix, too.
  bool is_behind_a_peer(const IpAddress& host) const;

 private:
  bool is_host(const IpAddress& address) const;

  const Policy& policy_;
  std::vector<IpAddress> gateways_;  // the addresses of this gateway and of all peers, ascending
  IpAddress broadcast_;              // of the gateway's own subnet
};

}  // namespace satrelay::gateway
