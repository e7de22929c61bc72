// Takes a first look at a frame: finds its kind and its parts, and decides nothing.
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
  // Valid from kFragment on. For IPv6, its protocol is the one behind the extension headers, and
  // its fragment fields are from a Fragment header.
  wire::IpHeader ip;
  // IPv6 only.
  wire::ExtensionHeaders extensions;
  // kNotIp and kArp: everything behind the Ethernet header. IP kinds: the IP payload, behind
  // extension headers.
  ConstBytes payload;
  // Reassembled from fragments (reassembly.h). If it is bridged, the fragments are bridged instead.
  bool reassembled = false;
  // A device that the caller trusts, or the engine, has found the TCP or UDP checksum correct.
  bool checksum_verified = false;
};

// Whether the transport may be hidden. A rule that could match then does match (rule_index.h).
inline bool hides_transport(const Frame& frame) {
  return frame.extensions.end == wire::ExtensionHeaders::End::kUnknown;
}

// A whole ICMP or ICMPv6 message.
inline bool is_icmp(const Frame& frame) {
  const bool behind_extensions = frame.kind == FrameKind::kIpExtension && !hides_transport(frame) &&
                                 frame.ip.protocol == wire::kProtocolIcmpV6;
  return frame.kind == FrameKind::kIcmp || behind_extensions;
}

// A whole TCP segment between the hosts that the IP header names, with any headers before it.
inline bool is_tcp(const Frame& frame) {
  return frame.kind > FrameKind::kFragment && frame.ip.protocol == wire::kProtocolTcp &&
         !hides_transport(frame) && !frame.extensions.segments_left;
}

// Fills in all but the Ethernet header, which `frame` already has, for an IP packet.
void look_at_packet(ConstBytes packet, Frame& frame);
// Overwrites `frame`.
void look_at(ConstBytes bytes, Frame& frame);
inline Frame look_at(ConstBytes bytes) {
  Frame frame;
  look_at(bytes, frame);
  return frame;
}

}  // namespace satrelay::gateway
