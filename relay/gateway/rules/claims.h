// What a peer may say about hosts, in an OPEN, in a list of flows and as evidence: it speaks for
// those behind it and for nobody else, and to hosts only. Which address stands behind which peer is
// the operator's word (`prefixes`), never a peer's.
#pragma once

#include <cstddef>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/rules/policy.h"

namespace satrelay::gateway {

class Claims {
 public:
  // One end of a connection that a peer tells of is on its side, the other here.
  struct Ends {
    const IpAddress& there;
    const IpAddress& here;
    const wire::EthernetHeader& ethernet;  // of frames of the connection, in either direction
  };

  // `policy` must outlive it.
  Claims(const config::Gateway& config, const Policy& policy);

  // Whether `peer` may speak of such a connection, or of one of these hosts that has no frames.
  bool allow(std::size_t peer, const Ends& ends) const;
  bool allow(std::size_t peer, const IpAddress& there, const IpAddress& here) const;

  // Whether both are hosts. No peer takes a connection of which one end is none.
  bool are_hosts(const IpAddress& one, const IpAddress& other) const {
    return is_host(one) && is_host(other);
  }

  // Whether the operator says that `host` is not on this LAN but behind a peer. A peer for
  // everything (a prefix of no bits) says nothing of any one host: this LAN lies in it, too.
  bool is_behind_a_peer(const IpAddress& host) const;

 private:
  bool is_host(const IpAddress& address) const;

  const Policy& policy_;
  std::vector<IpAddress> gateways_;  // our own address and those of all peers, ascending
  IpAddress broadcast_;              // of the gateway's own subnet
};

}  // namespace satrelay::gateway
