// First look at a frame: what it is, and where its parts are. Decides nothing.
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/extension_headers.h"
#include "pep/wire/ip.h"

namespace satrelay::gateway {

enum class FrameKind : std::uint8_t {
  kMalformed,  // too short, or its IP header contradicts itself
  kNotIp,      // LLDP, BPDU, PPPoE, MPLS, unknown EtherTypes, 802.3 lengths
  kArp,
  kFragment,     // of an IPv4 or IPv6 datagram, the first or a later one
  kIpOptions,    // IPv4 header with options
  kIpExtension,  // IPv6 with an extension header before the transport, and no fragment
  kTcp,
  kUdp,
  kIcmp,  // ICMP over IPv4 or ICMPv6 over IPv6
  kOtherIp,
};

struct Frame {
  FrameKind kind = FrameKind::kMalformed;
  wire::EthernetHeader ethernet;
  // Valid from kFragment on. Of IPv6 its protocol is what follows the extension headers, and what
  // it says of fragments is what a Fragment header says.
  wire::IpHeader ip;
  wire::ExtensionHeaders extensions;  // of IPv6
  // kNotIp and kArp: behind the Ethernet header; IP kinds: the IP payload, behind extension
  // headers.
  ConstBytes payload;
  // From fragments (reassembly.h): they are what is bridged, if it is.
  bool reassembled = false;
  // Somebody whom the host trusts has found the checksum of its TCP or UDP right.
  bool checksum_verified = false;
};

// Whether it may hide the transport: rules that could match do (rule_index.h).
inline bool hides_transport(const Frame& frame) {
  return frame.extensions.end == wire::ExtensionHeaders::End::kUnknown;
}

// ICMP or ICMPv6 that is whole.
inline bool is_icmp(const Frame& frame) {
  const bool behind_extensions = frame.kind == FrameKind::kIpExtension && !hides_transport(frame) &&
                                 frame.ip.protocol == wire::kProtocolIcmpV6;
  return frame.kind == FrameKind::kIcmp || behind_extensions;
}

// A TCP segment that is whole, between the hosts that the IP header names, whatever stands before
// it.
inline bool is_tcp(const Frame& frame) {
  return frame.kind > FrameKind::kFragment && frame.ip.protocol == wire::kProtocolTcp &&
         !hides_transport(frame) && !frame.extensions.segments_left;
}

// Of an IP packet whose Ethernet header `frame` has already, and nothing else.
void look_at_packet(ConstBytes packet, Frame& frame);
// Whatever `frame` was before.
void look_at(ConstBytes bytes, Frame& frame);
inline Frame look_at(ConstBytes bytes) {
  Frame frame;
  look_at(bytes, frame);
  return frame;
}

}  // namespace satrelay::gateway
