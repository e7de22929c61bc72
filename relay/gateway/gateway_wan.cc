// What arrives on the WAN port.
#include <algorithm>

#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

Verdict Gateway::Impl::handle_wan(const Frame& frame, ConstBytes bytes, Instant now) {
  constexpr PortId kPort = PortId::kWan;
  std::uint32_t slot = kNoSlot;
  switch (frame.kind) {
    case FrameKind::kArp:
      if (wan.handle_arp(frame, now)) return Verdict::kConsumed;
      break;
    case FrameKind::kUdp:
      if (wan.is_for_own_address(frame)) return handle_stp(frame, now);
      break;
    case FrameKind::kIcmp:
      if (wan.handle_icmp(frame, now)) return Verdict::kConsumed;
      if (concerns_relayed_flow(kPort, frame, slot)) return drop(Counter::kDroppedIcmpForRelayed);
      break;
    case FrameKind::kFragment:
      // Without the first one nobody can put the others together.
      if (concerns_relayed_flow(kPort, frame, slot)) {
        return drop(Counter::kDroppedFragmentOfRelayed);
      }
      break;
    case FrameKind::kIpOptions:
    case FrameKind::kIpExtension:
      if (is_icmp(frame) && concerns_relayed_flow(kPort, frame, slot)) {
        return drop(Counter::kDroppedIcmpForRelayed);
      }
      if (!is_tcp(frame)) break;
      [[fallthrough]];
    case FrameKind::kTcp:
      if (frame.payload.size() >= wire::kTcpHeaderSize) {
        const FlowKey key{frame.ip.destination, frame.ip.source, load_u16(frame.payload.data() + 2),
                          load_u16(frame.payload.data()), vlans_of(frame.ethernet)};
        if (flows.flows().find(key) != kNoSlot || flows.time_waits().contains(key)) {
          return drop(Counter::kDroppedRelayedFromWan);
        }
        door.look_from_wan(key, frame.payload, now);
      }
      break;
    default:
      break;
  }
  if (frame.kind != FrameKind::kMalformed && wan.is_own_mac(frame.ethernet.destination)) {
    return drop(Counter::kDroppedToGateway);
  }
  hear(lan.learn_from_wan(frame));
  const bool is_ip = frame.kind >= FrameKind::kFragment;
  return is_ip ? treat(Counter::kBridgedFromWan, frame, kPort, bytes, now)
               : bridge(Counter::kBridgedFromWan, frame, kPort, bytes, now);
}

Verdict Gateway::Impl::handle_stp(const Frame& frame, Instant now) {
  const auto udp = wire::parse_udp(frame.payload);
  if (!udp || udp->destination_port != config.stp.port) return drop(Counter::kDroppedToGateway);
  if (!frame.ip.source.is_v4() && !checksum_ok(frame)) return Verdict::kDrop;
  const auto peer = std::ranges::find_if(
      peers, [&](const auto& candidate) { return candidate->config.address == frame.ip.source; });
  if (peer == peers.end()) return drop(Counter::kDroppedStpUnknownPeer);
  const auto index = static_cast<std::size_t>(peer - peers.begin());
  (*peer)->session.handle_packet(
      frame.payload.subspan(wire::kUdpHeaderSize, udp->length - wire::kUdpHeaderSize), now,
      wan_reception);
  take_events(index, now);
  flows.go_on(now);
  return Verdict::kConsumed;
}

}  // namespace satrelay::gateway
