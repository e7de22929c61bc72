// First look at a frame: what it is, and where its parts are. Decides nothing.
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"

namespace satrelay::gateway {

enum class FrameKind : std::uint8_t {
  kMalformed,  // too short, or its IP header contradicts itself
  kNotIp,      // ARP, LLDP, BPDU, MPLS, unknown EtherTypes, 802.3 lengths
  kArp,
  kFragment,     // an IPv4 fragment, first or later
  kIpOptions,    // IPv4 header with options
  kIpExtension,  // IPv6 with an extension header before the transport
  kTcp,
  kUdp,
  kIcmp,  // ICMP over IPv4 or ICMPv6 over IPv6
  kOtherIp,
};

struct Frame {
  FrameKind kind = FrameKind::kMalformed;
  wire::EthernetHeader ethernet;
  wire::IpHeader ip;   // valid from kFragment on
  ConstBytes payload;  // kArp: behind the Ethernet header; IP kinds: the IP payload
};

Frame look_at(ConstBytes bytes);

}  // namespace satrelay::gateway
