// Configurations of gateways for tests, benchmarks and fuzz targets, which name only what they
// choose.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/units.h"

namespace satrelay::test {

struct GatewaySite {
  std::string_view own = "192.0.2.1";
  std::string_view subnet = "192.0.2.0/30";
  std::string_view next_hop = {};  // empty: none
  BitRate rate = BitRate::bits_per_second(50'000'000);
};

// A peer on the only link, "sat".
inline config::Peer peer_config(std::string name, const IpAddress& address,
                                std::vector<IpPrefix> prefixes = {}) {
  config::Peer peer;
  peer.name = std::move(name);
  peer.address = address;
  peer.prefixes = std::move(prefixes);
  peer.links = {"sat"};
  return peer;
}
inline config::Peer peer_config(std::string name, std::string_view address,
                                std::initializer_list<std::string_view> prefixes = {}) {
  config::Peer peer = peer_config(std::move(name), *IpAddress::parse(address));
  for (const std::string_view prefix : prefixes) {
    peer.prefixes.push_back(*IpPrefix::parse(prefix));
  }
  return peer;
}

// A gateway with the one link "sat", of the same rate both ways, and defaults for all else.
inline config::Gateway gateway_config(const GatewaySite& site, std::vector<config::Peer> peers) {
  config::Gateway config;
  config.gateway.own = *IpAddress::parse(site.own);
  config.gateway.address = *IpPrefix::parse(site.subnet);
  if (!site.next_hop.empty()) config.gateway.next_hop = *IpAddress::parse(site.next_hop);
  config.links = {{.name = "sat", .send_rate = site.rate, .receive_rate = site.rate}};
  config.peers = std::move(peers);
  return config;
}

}  // namespace satrelay::test
