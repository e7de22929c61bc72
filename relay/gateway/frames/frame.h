// Parses a frame: finds its kind and its parts. It makes no decisions about the frame.
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/extension_headers.h"
#include "pep/wire/ip.h"

namespace satrelay::gateway {

enum class FrameKind : std::uint8_t {
  kMalformed,  // too short, or the IP header contradicts itself
  kNotIp,      // LLDP, BPDU, PPPoE, MPLS, unknown EtherTypes, 802.3 lengths
  kArp,
  kFragment,     // the first or a later fragment of an IPv4 or IPv6 datagram
  kIpOptions,    // IPv4 header with options
  kIpExtension,  // IPv6 with an extension header before the transport; not a fragment
  kTcp,
  kUdp,
  kIcmp,  // ICMP over IPv4 or ICMPv6 over IPv6
  kOtherIp,
};

struct Frame {
  FrameKind kind = FrameKind::kMalformed;
  wire::EthernetHeader ethernet;
  // Valid for kFragment and all later kinds. With IPv6, the protocol is the protocol behind the
  // extension headers, and the fragment fields are those of a Fragment header.
  wire::IpHeader ip;
  // Valid for IPv6 only.
  wire::ExtensionHeaders extensions;
  // For kNotIp and kArp, all bytes behind the Ethernet header. For IP kinds, the IP payload behind
  // any extension headers.
  ConstBytes payload;
  // The frame was reassembled from fragments (reassembly.h). If it is bridged, the fragments are
  // bridged instead.
  bool reassembled = false;
  // The TCP or UDP checksum is known to be correct: a device that the caller trusts, or the engine
  // itself, has checked it.
  bool checksum_verified = false;
};

// Whether the gateway cannot find the transport header. A rule that drops or resets matches such a
// frame, whatever protocol and port the rule demands (rule_index.h).
inline bool hides_transport(const Frame& frame) {
  return frame.extensions.end == wire::ExtensionHeaders::End::kUnknown;
}

// Whether the frame has a whole ICMP or ICMPv6 message.
inline bool is_icmp(const Frame& frame) {
  const bool behind_extensions = frame.kind == FrameKind::kIpExtension && !hides_transport(frame) &&
                                 frame.ip.protocol == wire::kProtocolIcmpV6;
  return frame.kind == FrameKind::kIcmp || behind_extensions;
}

// Whether the frame has a whole TCP segment between the hosts that the IP header names. Other
// headers may precede the segment.
inline bool is_tcp(const Frame& frame) {
  return frame.kind > FrameKind::kFragment && frame.ip.protocol == wire::kProtocolTcp &&
         !hides_transport(frame) && !frame.extensions.segments_left;
}

// Fills in everything except `frame.ethernet` from an IP packet.
void look_at_packet(ConstBytes packet, Frame& frame);
// Overwrites `frame`.
void look_at(ConstBytes bytes, Frame& frame);
inline Frame look_at(ConstBytes bytes) {
  Frame frame;
  look_at(bytes, frame);
  return frame;
}

}  // namespace satrelay::gateway
