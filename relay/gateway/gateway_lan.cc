// What arrives on the LAN port.
#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/frames/frame_faults.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {
bool Gateway::Impl::speaks_for_gateway(const Frame& frame) const {
  if (frame.kind == FrameKind::kArp) {
    const auto sender = wire::arp_sender(frame.payload);
    return sender && is_gateway_address(*sender) && wan.is_in_own_network(frame.ethernet);
  }
  if (frame.kind < FrameKind::kFragment) return false;
  // STP crosses routers, so any VLAN may lead to a gateway.
  if (frame.ip.protocol == wire::kProtocolUdp) return is_gateway_address(frame.ip.source);
  if (!is_icmp(frame) || !wire::is_neighbour_discovery(frame.ip, frame.payload)) return false;
  const auto advertised = wire::advertised_neighbour(frame.ip, frame.payload);
  const bool says_so =
      is_gateway_address(frame.ip.source) || (advertised && is_gateway_address(*advertised));
  return says_so && wan.is_in_own_network(frame.ethernet);
}

// What is seen of all frames is looked up while the memory that it leads to is on its way. The
// flows are settled after the last of several segments that follow each other.
void Gateway::Impl::handle_lan_burst(std::span<const Arrived> frames, std::span<Handled> handled,
                                     Instant now) {
  counters.add(Counter::kLanFramesIn, frames.size());
  auto& [seen, segments] = *burst;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    seen[i] = look_at_arrived(frames[i]);
    segments[i] = look_at_segment(seen[i]);
    if (segments[i].tcp && frames.size() > 1) flows.flows().prefetch_way(segments[i].hash);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!segments[i].tcp) continue;
    segments[i].slot = flows.flows().find(segments[i].key, segments[i].hash);
    segments[i].changes = flows.flows().changes();
    if (segments[i].slot != kNoSlot && frames.size() > 1) flows.flows().prefetch(segments[i].slot);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    // Those before it in the burst may have begun or ended its flow.
    if (Segment& s = segments[i]; s.tcp && s.changes != flows.flows().changes()) {
      s.slot = flows.flows().find(s.key, s.hash);
      s.changes = flows.flows().changes();
    }
    flows.settle_unless(segments[i].slot, now);
    const Verdict verdict = handle_lan(seen[i], segments[i], frames[i].bytes, now);
    handled[i] = {.verdict = verdict, .slot = uplink.held_slot()};
  }
}

Gateway::Impl::Segment Gateway::Impl::look_at_segment(const Frame& frame) const {
  Segment segment;
  if (!is_tcp(frame)) return segment;
  segment.tcp = wire::parse_tcp(frame.payload);
  if (!segment.tcp) return segment;
  segment.key = {frame.ip.source, frame.ip.destination, segment.tcp->header.source_port,
                 segment.tcp->header.destination_port, vlans_of(frame.ethernet)};
  segment.hash = flows.flows().hash(segment.key);
  return segment;
}

Verdict Gateway::Impl::handle_lan(const Frame& frame, const Segment& segment, ConstBytes bytes,
                                  Instant now) {
  constexpr PortId kPort = PortId::kLan;
  std::uint32_t slot = kNoSlot;
  if (speaks_for_gateway(frame)) return drop(Counter::kDroppedForgedGateway);
  if (is_tcp(frame)) return handle_lan_tcp(frame, segment, bytes, now);
  hear(lan.learn_from_lan(frame));
  switch (frame.kind) {
    case FrameKind::kMalformed:
      return bridge(Counter::kBridgedMalformed, frame, kPort, bytes, now);
    case FrameKind::kNotIp:
    case FrameKind::kArp:
      return bridge(Counter::kBridgedNotIp, frame, kPort, bytes, now);
    case FrameKind::kFragment:
      return handle_lan_fragment(frame, bytes, now);
    case FrameKind::kIpOptions:
    case FrameKind::kIpExtension:
    case FrameKind::kIcmp:
      if (!concerns_relayed_flow(kPort, frame, slot)) break;
      if (slot != kNoSlot) flows.handle_icmp_error(slot, frame, now);
      return drop(Counter::kDroppedIcmpForRelayed);
    case FrameKind::kTcp:
    case FrameKind::kUdp:
    case FrameKind::kOtherIp:
      break;
  }
  return treat(bridging_reason(frame, Counter::kBridgedNotTcp), frame, kPort, bytes, now);
}

// What may be TCP is judged when it is whole: by what flow it belongs to, what rules say of its
// ports, in whose name it speaks, and its checksum, which no network card has seen.
Verdict Gateway::Impl::handle_lan_fragment(const Frame& frame, ConstBytes bytes, Instant now) {
  if (!Reassembly::may_be_tcp(frame)) {
    return treat(Counter::kBridgedFragment, frame, PortId::kLan, bytes, now);
  }
  switch (reassembly.add(frame, bytes, now)) {
    case Reassembly::Addition::kHeld:
      return Verdict::kConsumed;
    case Reassembly::Addition::kDropped:
      return Verdict::kDrop;
    case Reassembly::Addition::kWhole:
      break;
  }
  Frame whole = look_at(reassembly.whole());
  whole.reassembled = true;
  // A fragment within a fragment is put together twice by some, and by others not at all.
  const Verdict verdict = whole.extensions.fragment
                              ? drop(Counter::kDroppedFragmentMalformed)
                              : handle_lan(whole, look_at_segment(whole), reassembly.whole(), now);
  reassembly.end_whole();
  return verdict;
}

// IP options and extension headers of a relayed segment end here.
Verdict Gateway::Impl::handle_lan_tcp(const Frame& frame, const Segment& seen_segment,
                                      ConstBytes bytes, Instant now) {
  const auto& [tcp, key, hash, looked_up, changes] = seen_segment;
  // Hosts forgive more than we do.
  if (!tcp) {
    const Counter reason = bridging_reason(frame, Counter::kBridgedMalformed);
    return treat(reason, frame, PortId::kLan, bytes, now);
  }
  // Those before it in the burst may have begun or ended its flow.
  std::uint32_t slot =
      changes == flows.flows().changes() ? looked_up : flows.flows().find(key, hash);
  const bool is_syn =
      tcp->header.has(wire::TcpFlags::kSyn) && !tcp->header.has(wire::TcpFlags::kAck);
  if (slot != kNoSlot && !checksum_ok(frame)) return Verdict::kDrop;
  if (is_syn) flows.settle_unless(kNoSlot, now);
  if (slot != kNoSlot && !(is_syn && flows.make_way(slot, tcp->header, now))) {
    flows.handle_segment(slot, frame, tcp->header, frame.payload.subspan(tcp->header_size), now);
    return Verdict::kConsumed;
  }
  if (slot == kNoSlot && flows.time_waits().contains(key)) {
    if (!checksum_ok(frame)) return Verdict::kDrop;
    if (!(is_syn && flows.make_way(key, tcp->header, now))) {
      flows.handle_late_segment(key, frame, tcp->header, frame.payload.size() - tcp->header_size,
                                now);
      return Verdict::kConsumed;
    }
  }
  hear(lan.learn_from_lan(frame));  // a relayed flow follows its host's frames itself
  if (orphans.size() > 0) {
    if (!checksum_ok(frame)) return Verdict::kDrop;
    if (orphans.handle_segment(key, frame.ethernet, tcp->header)) return Verdict::kDrop;
  }
  const PolicyKey seen = policy.key_of(frame, config::Direction::kOutbound);
  const RulePtr& rule = policy.match(seen);
  if (bars(rule->rule)) {
    return treat(*rule, Counter::kBridgedByRule, frame, PortId::kLan, bytes, now);
  }
  const Doorkeeper::Segment segment{key, frame, tcp->header,
                                    frame.payload.size() - tcp->header_size};
  const Doorkeeper::Decision decision = door.decide(segment, *rule, seen.peer, flows, now);
  using Kind = Doorkeeper::Decision::Kind;
  switch (decision.kind) {
    case Kind::kRelay:
      begin_flow(segment, decision.recovered, *seen.peer, rule, now);
      return Verdict::kConsumed;
    case Kind::kCookie:
      door.answer_by_cookie(segment, flows.endpoint_config(key, now), now);
      return Verdict::kConsumed;
    case Kind::kBridge:
      return treat(*rule, decision.reason, frame, PortId::kLan, bytes, now);
    case Kind::kDrop:
      break;
  }
  return drop(decision.reason);
}

// `recovered`: the SYN that was answered by a cookie, which the segment brings back.
void Gateway::Impl::begin_flow(const Doorkeeper::Segment& segment,
                               const std::optional<wire::TcpHeader>& recovered, std::size_t peer,
                               const RulePtr& rule, Instant now) {
  const auto& [key, frame, header, payload] = segment;
  if (!recovered) {
    flows.accept(key, frame, header, std::nullopt, peer, rule, now);
    return;
  }
  flows.accept(key, frame, *recovered, header.acknowledgment - 1, peer, rule, now);
  flows.handle_segment(flows.flows().find(key), frame, header, frame.payload.last(payload), now);
}

}  // namespace satrelay::gateway
