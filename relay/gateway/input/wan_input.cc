#include "relay/gateway/input/wan_input.h"

#include <algorithm>

#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"
#include "relay/gateway/frames/frame_faults.h"
#include "relay/gateway/opening/concerned_flow.h"

namespace satrelay::gateway {

void WanInput::handle_burst(std::span<const Arrived> frames, std::span<Handled> handled,
                            Instant now) {
  parts_.counters.add(Counter::kWanFramesIn, frames.size());
  // Checking a packet reads all its bytes. Packets arrive by DMA and are not in this core's cache.
  // So prefetch each packet while the two packets before it are handled.
  constexpr std::size_t kAhead = 2;
  for (std::size_t i = 0; i < std::min(kAhead, frames.size()); ++i) prefetch(frames[i].bytes);
  Frame room;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i + kAhead < frames.size()) prefetch(frames[i + kAhead].bytes);
    const Frame& frame = look_at_arrived(frames[i], room);
    stations_.hear(Side::kWan, frame, now);
    if (deferred_.packets() > 0 && frame.kind != FrameKind::kUdp) deferred_.settle(now);
    const Verdict verdict = handle(frame, frames[i].bytes, now);
    handled[i] = {.verdict = verdict, .slot = parts_.uplink.held_slot()};
    if (deferred_.packets() >= kBurstFrames) deferred_.settle(now);
  }
}

Verdict WanInput::handle(const Frame& frame, ConstBytes bytes, Instant now) {
  constexpr PortId kPort = PortId::kWan;
  switch (frame.kind) {
    case FrameKind::kArp:
      if (parts_.wan.handle_arp(frame, now)) return Verdict::kConsumed;
      between_.hear_answer(frame, now);
      break;
    case FrameKind::kUdp:
      if (parts_.wan.is_for_own_address(frame)) return handle_stp(frame, now);
      break;
    case FrameKind::kIcmp:
      if (parts_.wan.handle_icmp(frame, now)) return Verdict::kConsumed;
      between_.hear_answer(frame, now);
      if (concerns_relayed(frame)) return bridging_.drop(Counter::kDroppedIcmpForRelayed);
      break;
    case FrameKind::kFragment:
      // Drop the first fragment, which shows the ports: without it no host can reassemble the
      // datagram.
      if (concerns_relayed(frame)) {
        return bridging_.drop(Counter::kDroppedFragmentOfRelayed);
      }
      break;
    case FrameKind::kIpOptions:
    case FrameKind::kIpExtension:
      if (is_icmp(frame) && concerns_relayed(frame)) {
        return bridging_.drop(Counter::kDroppedIcmpForRelayed);
      }
      if (!is_tcp(frame)) break;
      [[fallthrough]];
    case FrameKind::kTcp:
      if (frame.payload.size() >= wire::kTcpHeaderSize) {
        const FlowKey key{frame.ip.destination, frame.ip.source, load_u16(frame.payload.data() + 2),
                          load_u16(frame.payload.data()), vlans_of(frame.ethernet)};
        if (parts_.flows.flows().find(key) != kNoSlot || parts_.flows.time_waits().contains(key)) {
          return bridging_.drop(Counter::kDroppedRelayedFromWan);
        }
        if (parts_.door.takes_back(key, frame.ethernet, frame.payload, now)) {
          return bridging_.drop(Counter::kDroppedTakenBack);
        }
        parts_.door.look_from_wan(key, frame.ethernet, frame.payload, now);
        if (wire::opens_connection(load_u8(&frame.payload[wire::kTcpFlagsOffset])) &&
            !parts_.wan.is_own_mac(frame.ethernet.destination) &&
            !parts_.policy.is_on_own_segment(frame.ip.source) &&
            !parts_.policy.peer_for(frame.ip.source)) {
          parts_.counters.add(Counter::kSynsOfNoPeer);
        }
      }
      break;
    default:
      break;
  }
  if (frame.kind != FrameKind::kMalformed && parts_.wan.is_own_mac(frame.ethernet.destination)) {
    return bridging_.drop(Counter::kDroppedToGateway);
  }
  parts_.lan.note_from_wan(frame, now);
  if (frame.kind == FrameKind::kNotIp) return bridging_.bridge_not_ip(frame, kPort, bytes, now);
  const bool is_ip = frame.kind >= FrameKind::kFragment;
  return is_ip ? bridging_.treat(Bridging::reason_if_not_tcp(kPort), frame, kPort, bytes, now)
               : bridging_.bridge(Counter::kBridgedFromWan, frame, kPort, bytes, now);
}

bool WanInput::concerns_relayed(const Frame& frame) const {
  const auto key = concerned_flow(PortId::kWan, frame);
  return key &&
         (parts_.flows.flows().find(*key) != kNoSlot || parts_.flows.time_waits().contains(*key));
}

void WanInput::overhear(const Frame& frame, Instant now) {
  const bool own = frame.kind == FrameKind::kArp
                       ? parts_.wan.handle_arp(frame, now)
                       : frame.kind == FrameKind::kIcmp && parts_.wan.handle_icmp(frame, now);
  if (!own) parts_.lan.note_from_wan(frame, now);
}

Verdict WanInput::handle_stp(const Frame& frame, Instant now) {
  const auto udp = wire::parse_udp(frame.payload);
  if (!udp ||
      !parts_.directory.lanes().is_one(udp->destination_port - int{parts_.config.stp.port})) {
    return bridging_.drop(Counter::kDroppedToGateway);
  }
  if (!frame.ip.source.is_v4() && !passes_checksum(frame, parts_.counters)) return Verdict::kDrop;
  const auto number = static_cast<unsigned>(udp->destination_port - parts_.config.stp.port);
  // Most packets arrive on the same lane as the packet before.
  std::optional<LaneId> lane = deferred_.lane();
  if (parts_.lanes[*lane]->address.number != number ||
      parts_.lanes[*lane]->peer.config.address != frame.ip.source) {
    const auto found = parts_.directory.peers().find(frame.ip.source);
    if (!found) return bridging_.drop(Counter::kDroppedStpUnknownPeer);
    lane = parts_.directory.lanes().find(*found, number);
    if (!lane) return bridging_.drop(Counter::kDroppedStpUnknownLane);
  }
  if (deferred_.lane() != *lane) deferred_.settle(now);
  parts_.lanes[*lane]->session.handle_packet(
      frame.payload.subspan(wire::kUdpHeaderSize, udp->length - wire::kUdpHeaderSize), now,
      reception_);
  parts_.uplink.ready_set().wake(*lane);
  deferred_.note_packet(*lane);
  return Verdict::kConsumed;
}

}  // namespace satrelay::gateway
