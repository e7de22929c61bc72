#include "relay/gateway/frames/layer_two.h"

#include <algorithm>
#include <array>

#include "pep/wire/encapsulation.h"
#include "pep/wire/icmp.h"

namespace satrelay::gateway {
namespace {

using wire::EtherType;

// IEEE 802.1Q table 8-1: group addresses that a bridge does not forward (STP, LACP, EAPOL, LLDP),
// and the addresses of MRP (table 10-1) and of CFM (section 8.13). All are from 01:80:c2:00:00:00
// to 3f.
bool is_bridge_group(const MacAddress& mac) {
  constexpr std::array<std::uint8_t, 5> kGroup{0x01, 0x80, 0xc2, 0x00, 0x00};
  return std::ranges::equal(std::span(mac.octets).first<5>(), kGroup) && mac.octets[5] < 0x40;
}

// Groups to which the bridges of one vendor send the STP of each VLAN, and messages to discover
// each other.
bool is_vendor_group(const MacAddress& mac) {
  constexpr std::array<std::uint8_t, 5> kGroup{0x01, 0x00, 0x0c, 0xcc, 0xcc};
  return std::ranges::equal(std::span(mac.octets).first<5>(), kGroup) &&
         (mac.octets[5] == 0xcc || mac.octets[5] == 0xcd);
}

bool is_control_type(EtherType type) {
  switch (type) {
    case EtherType::kSlowProtocols:
    case EtherType::kEapol:
    case EtherType::kLldp:
    case EtherType::kCfm:
    case EtherType::kPppoeDiscovery:
      return true;
    default:
      return false;
  }
}

bool is_ppp_control(const Frame& frame) {
  if (frame.ethernet.type != EtherType::kPppoeSession) return false;
  const auto pppoe = wire::parse_pppoe(frame.payload);
  return pppoe && pppoe->protocol >= wire::kPppFirstControl;
}

}  // namespace

bool is_link_control(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kArp:
      return true;
    case FrameKind::kNotIp:
      return is_control_type(frame.ethernet.type) || is_bridge_group(frame.ethernet.destination) ||
             is_vendor_group(frame.ethernet.destination) || is_ppp_control(frame);
    case FrameKind::kIcmp:
      // RFC 4861 section 7.1: hosts ignore a message that was forwarded by a router.
      return frame.ip.hop_limit == 255 && wire::is_neighbour_discovery(frame.ip, frame.payload);
    default:
      return false;
  }
}

std::optional<Frame> look_inside(const Frame& frame) {
  if (frame.kind != FrameKind::kNotIp) return std::nullopt;
  std::optional<ConstBytes> packet;
  switch (frame.ethernet.type) {
    case EtherType::kPppoeSession:
      packet = wire::ip_in_pppoe(frame.payload);
      break;
    case EtherType::kMpls:
    case EtherType::kMplsMulticast:
      packet = wire::ip_in_mpls(frame.payload);
      break;
    default:
      break;
  }
  if (!packet) return std::nullopt;
  std::optional<Frame> inner(std::in_place);
  inner->ethernet = frame.ethernet;
  look_at_packet(*packet, *inner);
  return inner;
}

}  // namespace satrelay::gateway
