// Identifies a relayed flow: the TCP 4-tuple as this gateway's LAN sees it, and the VLANs in which
// the LAN host is reached.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/image/image.h"
#include "pep/wire/ethernet.h"

namespace satrelay::gateway {

struct FlowKey {
  IpAddress local;   // the host on this gateway's LAN
  IpAddress remote;  // the host behind the peer
  std::uint16_t local_port = 0;
  std::uint16_t remote_port = 0;
  std::array<std::uint16_t, wire::kMaxVlanTags> vlans{};  // VLAN ids, outermost first; 0 if absent

  void image(Image& image) { image(local, remote, local_port, remote_port, vlans); }
  friend bool operator==(const FlowKey&, const FlowKey&) = default;
};

// Keeps only the addresses of the two hosts and the VLANs, without the ports.
constexpr FlowKey pair_of(FlowKey key) {
  key.local_port = key.remote_port = 0;
  return key;
}

// Removes the VLANs from the key, so that it is the same in every VLAN.
constexpr FlowKey untagged(FlowKey key) {
  key.vlans = {};
  return key;
}

// The VLAN ids of a header, without the priority bits, since a host may change these within a flow.
constexpr std::array<std::uint16_t, wire::kMaxVlanTags> vlans_of(const wire::EthernetHeader& eth) {
  std::array<std::uint16_t, wire::kMaxVlanTags> ids{};
  for (std::size_t i = 0; i < eth.tag_count; ++i) ids[i] = eth.tags[i].vlan_id();
  return ids;
}

}  // namespace satrelay::gateway
