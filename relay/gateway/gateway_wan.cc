// Handles frames that arrive on the WAN port.
#include <algorithm>

#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"
#include "relay/gateway/frames/neighbours/asked_owner.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

void Gateway::Impl::handle_wan_burst(std::span<const Arrived> frames, std::span<Handled> handled,
                                     Instant now) {
  counters.add(Counter::kWanFramesIn, frames.size());
  // Checking a packet reads all of it. A packet that came by DMA is in no cache of this core, so it
  // is fetched while the packets before it are handled.
  constexpr std::size_t kAhead = 2;
  for (std::size_t i = 0; i < std::min(kAhead, frames.size()); ++i) prefetch(frames[i].bytes);
  Frame room;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i + kAhead < frames.size()) prefetch(frames[i + kAhead].bytes);
    const Frame& frame = look_at_arrived(frames[i], room);
    hear_station(Side::kWan, frame, now);
    if (deferred.packets > 0 && frame.kind != FrameKind::kUdp) settle(now);
    const Verdict verdict = handle_wan(frame, frames[i].bytes, now);
    handled[i] = {.verdict = verdict, .slot = uplink.held_slot()};
    if (deferred.packets >= kBurst) settle(now);
  }
}

Verdict Gateway::Impl::handle_wan(const Frame& frame, ConstBytes bytes, Instant now) {
  constexpr PortId kPort = PortId::kWan;
  std::uint32_t slot = kNoSlot;
  switch (frame.kind) {
    case FrameKind::kArp:
      if (wan.handle_arp(frame, now)) return Verdict::kConsumed;
      look_for_answer(frame, now);
      break;
    case FrameKind::kUdp:
      if (wan.is_for_own_address(frame)) return handle_stp(frame, now);
      break;
    case FrameKind::kIcmp:
      if (wan.handle_icmp(frame, now)) return Verdict::kConsumed;
      look_for_answer(frame, now);
      if (concerns_relayed_flow(kPort, frame, slot)) return drop(Counter::kDroppedIcmpForRelayed);
      break;
    case FrameKind::kFragment:
      // Without the first fragment no host can reassemble the others.
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
        if (door.takes_back(key, frame.ethernet, frame.payload, now)) {
          return drop(Counter::kDroppedTakenBack);
        }
        door.look_from_wan(key, frame.ethernet, frame.payload, now);
        if (wire::opens_connection(load_u8(&frame.payload[wire::kTcpFlagsOffset])) &&
            !wan.is_own_mac(frame.ethernet.destination) &&
            !policy.is_on_own_segment(frame.ip.source) && !policy.peer_for(frame.ip.source)) {
          counters.add(Counter::kSynsOfNoPeer);
        }
      }
      break;
    default:
      break;
  }
  if (frame.kind != FrameKind::kMalformed && wan.is_own_mac(frame.ethernet.destination)) {
    return drop(Counter::kDroppedToGateway);
  }
  lan.note_from_wan(frame, now);
  if (frame.kind == FrameKind::kNotIp) return bridge_not_ip(frame, kPort, bytes, now);
  const bool is_ip = frame.kind >= FrameKind::kFragment;
  return is_ip ? treat(Counter::kBridgedFromWan, frame, kPort, bytes, now)
               : bridge(Counter::kBridgedFromWan, frame, kPort, bytes, now);
}

void Gateway::Impl::look_for_answer(const Frame& frame, Instant now) {
  const auto told = answering_owner(frame);
  if (!told || claims.is_behind_a_peer(*told)) return;
  const auto peer = policy.peer_for(*told);
  if (!peer) return;
  const auto path = door.shortest_path(lane_addresses.first_of(*peer));
  if (!path || *path <= BetweenGateways::kShortestPath) return;
  common->between.note_answer({*told, vlans_of(frame.ethernet)}, frame.ethernet.destination,
                              *path / 2, now);
}

// Learns from the frame what handle_lan() or handle_wan() would learn.
void Gateway::Impl::overhear(PortId port, const Frame& frame, Instant now) {
  if (port == PortId::kLan) {
    if (speaks_for_gateway(frame)) return;
    hear(lan.learn_from_lan(frame, now));
    hear_told(frame, now);
    return;
  }
  const bool own = frame.kind == FrameKind::kArp
                       ? wan.handle_arp(frame, now)
                       : frame.kind == FrameKind::kIcmp && wan.handle_icmp(frame, now);
  if (!own) lan.note_from_wan(frame, now);
}

Verdict Gateway::Impl::handle_stp(const Frame& frame, Instant now) {
  const auto udp = wire::parse_udp(frame.payload);
  if (!udp || !lane_addresses.is_one(udp->destination_port - int{config.stp.port})) {
    return drop(Counter::kDroppedToGateway);
  }
  if (!frame.ip.source.is_v4() && !checksum_ok(frame)) return Verdict::kDrop;
  const auto number = static_cast<unsigned>(udp->destination_port - config.stp.port);
  // Most packets come on the lane of the packet before.
  std::optional<LaneId> lane = deferred.lane;
  if (lanes[*lane]->address.number != number ||
      lanes[*lane]->peer.config.address != frame.ip.source) {
    const auto found = peer_addresses.find(frame.ip.source);
    if (!found) return drop(Counter::kDroppedStpUnknownPeer);
    lane = lane_addresses.find(*found, number);
    if (!lane) return drop(Counter::kDroppedStpUnknownLane);
  }
  if (deferred.lane != *lane) settle(now);
  lanes[*lane]->session.handle_packet(
      frame.payload.subspan(wire::kUdpHeaderSize, udp->length - wire::kUdpHeaderSize), now,
      wan_reception);
  uplink.ready_set().wake(*lane);
  deferred.lane = *lane;
  ++deferred.packets;
  return Verdict::kConsumed;
}

}  // namespace satrelay::gateway
