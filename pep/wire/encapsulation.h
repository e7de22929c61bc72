// Protocols other than IP itself that carry IP packets within Ethernet: PPPoE sessions (RFC 2516)
// and MPLS label stacks (RFC 3032).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/wire/ip.h"

namespace satrelay::wire {

inline constexpr std::uint16_t kPppIpv4 = 0x0021;
inline constexpr std::uint16_t kPppIpv6 = 0x0057;
// Numbers from here on are control protocols, such as IPCP and LCP (RFC 1661 section 2).
inline constexpr std::uint16_t kPppFirstControl = 0x8000;

// A frame of a PPPoE session:
//    0                   1                   2                   3
//   |  VER  | TYPE  |     CODE      |          SESSION_ID           |
//   |            LENGTH             |   PPP protocol (2, or 1 octet)
struct PppoeFrame {
  std::uint16_t session = 0;
  std::uint16_t protocol = 0;  // PPP protocol number
  ConstBytes payload{};  // the part of the frame that LENGTH covers, without the protocol number
};
// `payload` is the part of the frame after the Ethernet header. Returns nullopt unless the frame
// has version 1 and type 1, carries data of a session, and is at least as long as LENGTH says. A
// protocol in one octet (RFC 1661 section 6.5) is accepted, too.
std::optional<PppoeFrame> parse_pppoe(ConstBytes payload);

// A stack of labels:
//   |                Label (20)             | TC  |S|   TTL (8)     |
struct MplsFrame {
  static constexpr std::size_t kMostLabels = 3;
  std::array<std::uint32_t, kMostLabels> labels{};  // outermost first
  std::size_t label_count = 0;
  bool has_bottom = false;  // the last label in `labels` has the bottom-of-stack bit
  ConstBytes payload{};     // the bytes after these labels
};
// Returns nullopt if there is no label. Parses only the first kMostLabels labels of a longer stack.
std::optional<MplsFrame> parse_mpls(ConstBytes payload);

// Returns the IP packet in a PPPoE session or under one to three labels, without the bytes after
// its end. Returns nullopt unless version, header length, total length and, for IPv4, the header
// checksum are right. These checks are needed because a label does not say which protocol follows.
std::optional<ConstBytes> ip_in_pppoe(ConstBytes payload);
std::optional<ConstBytes> ip_in_mpls(ConstBytes payload);

}  // namespace satrelay::wire
