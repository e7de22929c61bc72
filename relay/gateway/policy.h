// Decides, for a SYN from the LAN, whether a rule accelerates it and which peer stands before its
// server. First match wins; without rules everything towards a peer's prefixes is accelerated.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/schema.h"
#include "pep/base/address.h"

namespace satrelay::gateway {

class Policy {
 public:
  // `own_segment`: the subnet that the gateway itself is in, on the WAN side.
  Policy(std::vector<config::Rule> rules, const std::vector<config::Peer>& peers,
         std::optional<IpPrefix> own_segment = std::nullopt);

  // The rule for a connection from `client` to `server`; nullptr if none matches (then: bridge).
  const config::Rule* match(const IpAddress& client, const IpAddress& server,
                            std::uint16_t server_port) const;
  // Index of the peer with the longest prefix that holds `server`.
  std::optional<std::size_t> peer_for(const IpAddress& server) const;
  // Whether `server` stands on the gateway's own segment, between the two gateways, where no peer
  // is to be asked for it: a modem, say. A peer's prefix within that subnet says otherwise.
  bool is_on_own_segment(const IpAddress& server) const;
  const std::vector<config::Rule>& rules() const { return rules_; }

  // One more connection that a host of the LAN opened fell under `rule`; nullptr: under none.
  void count(const config::Rule* rule);
  // Connections so far of each rule in turn, and last those of none.
  const std::vector<std::uint64_t>& connections() const { return connections_; }

 private:
  struct PeerPrefix {
    IpPrefix prefix;
    std::size_t peer;
  };
  const PeerPrefix* longest(const IpAddress& server) const;

  std::vector<config::Rule> rules_;
  std::vector<std::uint64_t> connections_;
  std::vector<PeerPrefix> prefixes_;  // longest first
  std::optional<IpPrefix> own_segment_;
};

}  // namespace satrelay::gateway
