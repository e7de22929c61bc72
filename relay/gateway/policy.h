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
  Policy(std::vector<config::Rule> rules, const std::vector<config::Peer>& peers);

  // The rule for a connection from `client` to `server`; nullptr if none matches (then: bridge).
  const config::Rule* match(const IpAddress& client, const IpAddress& server,
                            std::uint16_t server_port) const;
  // Index of the peer with the longest prefix that holds `server`.
  std::optional<std::size_t> peer_for(const IpAddress& server) const;
  // The rule that holds for streams that a peer opens: the first that matches.
  const std::vector<config::Rule>& rules() const { return rules_; }

 private:
  struct PeerPrefix {
    IpPrefix prefix;
    std::size_t peer;
  };
  std::vector<config::Rule> rules_;
  std::vector<PeerPrefix> prefixes_;  // longest first
};

}  // namespace satrelay::gateway
