#include "relay/gateway/input/lan_input.h"

#include <algorithm>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/opening/concerned_flow.h"
#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::gateway {

bool LanInput::speaks_for_gateway(const Frame& frame) const {
  if (frame.kind == FrameKind::kArp) {
    const auto sender = wire::arp_sender(frame.payload);
    return sender && parts_.directory.has_gateway(*sender) &&
           parts_.wan.is_in_own_network(frame.ethernet);
  }
  if (frame.kind < FrameKind::kFragment) return false;
  // STP crosses routers, so any VLAN may lead to a gateway.
  if (frame.ip.protocol == wire::kProtocolUdp) return parts_.directory.has_gateway(frame.ip.source);
  if (!is_icmp(frame) || !wire::is_neighbour_discovery(frame.ip, frame.payload)) return false;
  const auto advertised = wire::advertised_neighbour(frame.ip, frame.payload);
  const bool says_so = parts_.directory.has_gateway(frame.ip.source) ||
                       (advertised && parts_.directory.has_gateway(*advertised));
  return says_so && parts_.wan.is_in_own_network(frame.ethernet);
}

// LanNeighbours sends its ARP requests and neighbour solicitations from the gateway's own MAC, so
// hosts answer to that MAC.
bool LanInput::answers_gateway(const Frame& frame) const {
  if (frame.kind != FrameKind::kArp && !is_icmp(frame)) return false;
  if (!parts_.wan.is_own_mac(frame.ethernet.destination)) return false;
  return frame.kind == FrameKind::kArp || wire::is_neighbour_discovery(frame.ip, frame.payload);
}

bool LanInput::stays_on_lan(const Frame& frame, Instant now) const {
  const wire::EthernetHeader& ethernet = frame.ethernet;
  if (frame.kind == FrameKind::kMalformed || ethernet.destination.is_multicast()) return false;
  if (!parts_.common->stations.is_on_lan_only({ethernet.destination, vlans_of(ethernet)}, now))
    return false;
  if (frame.kind == FrameKind::kArp) {
    const auto arp = wire::parse_arp(frame.payload);
    return !arp || !parts_.claims.is_behind_a_peer(arp->target);
  }
  return frame.kind == FrameKind::kNotIp || !parts_.claims.is_behind_a_peer(frame.ip.destination);
}

// Makes three passes over the burst. The first pass parses all frames, and prefetches the lines of
// the flow table that they need. The second looks up the flows, and prefetches their memory. The
// third handles the frames in order, and handles consecutive segments of one flow together.
void LanInput::handle_burst(std::span<const Arrived> frames, std::span<Handled> handled,
                            Instant now) {
  parts_.counters.add(Counter::kLanFramesIn, frames.size());
  auto& [looks, seen, segments, train] = *burst_;
  constexpr std::size_t kHeaders = 128;
  for (const Arrived& arrived : frames) {
    prefetch(arrived.bytes.first(std::min(kHeaders, arrived.bytes.size())));
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    seen[i] = &look_at_arrived(frames[i], looks[i]);
    look_at_segment(*seen[i], segments[i]);
    if (segments[i].tcp && frames.size() > 1) parts_.flows.flows().prefetch_way(segments[i].hash);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!segments[i].tcp) continue;
    segments[i].slot = parts_.flows.flows().find(segments[i].key, segments[i].hash);
    segments[i].changes = parts_.flows.flows().changes();
    const bool is_known = i > 0 && segments[i - 1].slot == segments[i].slot;
    if (segments[i].slot != kNoSlot && !is_known && frames.size() > 1) {
      parts_.flows.flows().prefetch(segments[i].slot);
    }
  }
  for (std::size_t i = 0; i < frames.size();) {
    stations_.hear(Side::kLan, *seen[i], now);
    parts_.flows.moves().hear_sender(seen[i]->ethernet, now);
    find_again(segments[i]);
    deferred_.settle_unless(segments[i].slot, now);
    std::size_t taken = handle_train(i, frames.size(), now);
    Verdict verdict = Verdict::kConsumed;
    if (taken == 0) {
      verdict = handle(*seen[i], segments[i], frames[i].bytes, now);
      taken = 1;
    }
    for (; taken > 0; --taken, ++i)
      handled[i] = {.verdict = verdict, .slot = parts_.uplink.held_slot()};
  }
}

// A train is a run of segments of one flow that are handled together. It ends before a SYN, since a
// SYN may replace the flow. It also ends before an RST: the flow must first handle the segments
// before the RST.
std::size_t LanInput::handle_train(std::size_t begin, std::size_t end, Instant now) {
  auto& [looks, seen, segments, train] = *burst_;
  const std::uint32_t slot = segments[begin].slot;
  if (slot == kNoSlot) return 0;
  const Frame& first = *seen[begin];
  std::size_t count = 0;
  for (std::size_t at = begin; at < end; ++at) {
    find_again(segments[at]);
    const auto& tcp = segments[at].tcp;
    Frame& frame = *seen[at];
    const bool is_alike = segments[at].slot == slot && frame.ethernet == first.ethernet &&
                          frame.ip.traffic_class == first.ip.traffic_class &&
                          frame.ip.hop_limit == first.ip.hop_limit;
    if (!is_alike || tcp->header.opens_connection()) break;
    if (count > 0 && tcp->header.has(wire::TcpFlags::kRst)) break;
    if (checksum_fault(frame)) break;
    frame.checksum_verified = true;
    train[count++] = {&tcp->header, frame.payload.subspan(tcp->header_size),
                      tcp::ecn_field(frame.ip.traffic_class)};
  }
  if (count > 0) pass_to_flow(slot, first, std::span(train).first(count), now);
  return count;
}

void LanInput::pass_to_flow(std::uint32_t slot, const Frame& frame,
                            std::span<const tcp::Segment> segments, Instant now) {
  const bool is_reset = segments.front().header->has(wire::TcpFlags::kRst);
  deferred_.settle_unless(is_reset ? kNoSlot : slot, now);
  const auto visit =
      deferred_.flow() == slot ? FlowRelay::Visit::kGoesOn : FlowRelay::Visit::kBegins;
  if (parts_.flows.handle_segments(slot, frame, segments, visit, now))
    deferred_.note_segments(slot);
}

void LanInput::look_at_segment(const Frame& frame, Segment& segment) const {
  segment.tcp.reset();
  segment.slot = kNoSlot;
  segment.changes = Segment().changes;
  if (!is_tcp(frame)) return;
  if (!wire::parse_tcp(frame.payload, segment.tcp.emplace())) {
    segment.tcp.reset();
    return;
  }
  segment.key = {frame.ip.source, frame.ip.destination, segment.tcp->header.source_port,
                 segment.tcp->header.destination_port, vlans_of(frame.ethernet)};
  segment.hash = parts_.flows.flows().hash(segment.key);
}

Verdict LanInput::handle(const Frame& frame, const Segment& segment, ConstBytes bytes,
                         Instant now) {
  constexpr PortId kPort = PortId::kLan;
  if (speaks_for_gateway(frame)) return bridging_.drop(Counter::kDroppedForgedGateway);
  if (is_tcp(frame)) return handle_tcp(frame, segment, bytes, now);
  if (stays_on_lan(frame, now)) return bridging_.drop(Counter::kFilteredOwnSide);
  parts_.flows.hosts().hear(parts_.lan.learn_from_lan(frame, now));
  hear_told(frame, now);
  if (answers_gateway(frame)) return Verdict::kConsumed;
  switch (frame.kind) {
    case FrameKind::kMalformed:
      return bridging_.bridge(Counter::kBridgedMalformed, frame, kPort, bytes, now);
    case FrameKind::kNotIp:
      return bridging_.bridge_not_ip(frame, kPort, bytes, now);
    case FrameKind::kArp:
      between_.hear_question(frame, now);
      return bridging_.bridge(Counter::kBridgedNotIp, frame, kPort, bytes, now);
    case FrameKind::kFragment:
      return handle_fragment(frame, bytes, now);
    case FrameKind::kIpOptions:
    case FrameKind::kIpExtension:
    case FrameKind::kIcmp:
      between_.hear_question(frame, now);
      if (const auto key = concerned_flow(kPort, frame)) {
        const std::uint32_t slot = parts_.flows.flows().find(*key);
        if (slot == kNoSlot && !parts_.flows.time_waits().contains(*key)) break;
        if (slot != kNoSlot) parts_.flows.handle_icmp_error(slot, frame, now);
        return bridging_.drop(Counter::kDroppedIcmpForRelayed);
      }
      break;
    case FrameKind::kTcp:
    case FrameKind::kUdp:
    case FrameKind::kOtherIp:
      break;
  }
  const Counter reason = bridging_reason(frame, Bridging::reason_if_not_tcp(kPort));
  return bridging_.treat(reason, frame, kPort, bytes, now);
}

// Keeps a fragment that may be TCP until its datagram is complete. Only the whole datagram shows
// the flow, the ports and whether the TCP checksum is correct.
Verdict LanInput::handle_fragment(const Frame& frame, ConstBytes bytes, Instant now) {
  if (!Reassembly::may_be_tcp(frame)) {
    return bridging_.treat(Counter::kBridgedFragment, frame, PortId::kLan, bytes, now);
  }
  switch (parts_.fragments.reassembly.add(frame, bytes, now)) {
    case Reassembly::Addition::kHeld:
      return Verdict::kConsumed;
    case Reassembly::Addition::kDropped:
      return Verdict::kDrop;
    case Reassembly::Addition::kWhole:
      break;
  }
  Frame whole = look_at(parts_.fragments.reassembly.whole());
  whole.reassembled = true;
  Segment segment;
  look_at_segment(whole, segment);
  // The reassembled datagram is itself a fragment. Receivers treat such datagrams in different
  // ways, so drop it.
  const Verdict verdict = whole.extensions.fragment
                              ? bridging_.drop(Counter::kDroppedFragmentMalformed)
                              : handle(whole, segment, parts_.fragments.reassembly.whole(), now);
  parts_.fragments.reassembly.end_whole();
  return verdict;
}

// If a segment belongs to a relayed flow, its IP options and extension headers do not reach the far
// host.
Verdict LanInput::handle_tcp(const Frame& frame, const Segment& seen_segment, ConstBytes bytes,
                             Instant now) {
  const auto& [tcp, key, hash, looked_up, changes] = seen_segment;
  // A host may accept a segment that this parser rejects, so the segment is bridged.
  if (!tcp) {
    if (stays_on_lan(frame, now)) return bridging_.drop(Counter::kFilteredOwnSide);
    const Counter reason = bridging_reason(frame, Counter::kBridgedMalformed);
    return bridging_.treat(reason, frame, PortId::kLan, bytes, now);
  }
  // Earlier frames of the burst may have begun or ended the flow of this segment.
  std::uint32_t slot =
      changes == parts_.flows.flows().changes() ? looked_up : parts_.flows.flows().find(key, hash);
  const bool is_syn = tcp->header.opens_connection();
  if (slot != kNoSlot && !passes_checksum(frame)) return Verdict::kDrop;
  if (is_syn) deferred_.settle(now);
  if (slot != kNoSlot && !(is_syn && parts_.flows.reopening().make_way(slot, tcp->header, now))) {
    const tcp::Segment segment{&tcp->header, frame.payload.subspan(tcp->header_size),
                               tcp::ecn_field(frame.ip.traffic_class)};
    pass_to_flow(slot, frame, {&segment, 1}, now);
    return Verdict::kConsumed;
  }
  if (slot == kNoSlot && parts_.flows.time_waits().contains(key)) {
    if (!passes_checksum(frame)) return Verdict::kDrop;
    if (!(is_syn && parts_.flows.late().make_way(key, tcp->header, now))) {
      parts_.flows.late().handle_segment(key, frame, tcp->header,
                                         frame.payload.size() - tcp->header_size, now);
      return Verdict::kConsumed;
    }
  }
  if (const std::uint32_t asked = parts_.flows.servers().find_in_other_vlan(key, tcp->header);
      asked != kNoSlot) {
    if (!passes_checksum(frame)) return Verdict::kDrop;
    parts_.flows.servers().handle_other_vlan(asked, tcp->header, now);
    return bridging_.drop(Counter::kDroppedOtherVlan);
  }
  const bool stays = stays_on_lan(frame, now);
  // Segments of relayed flows do not get here. A flow learns the MAC of its host from its own
  // segments.
  if (!stays) parts_.flows.hosts().hear(parts_.lan.learn_from_lan(frame, now));
  // Check for orphaned flows before `stays`: if one host of such a flow has moved here, both hosts
  // are on this LAN, and their segments stay on it.
  if (parts_.orphans.size() > 0) {
    if (!passes_checksum(frame)) return Verdict::kDrop;
    if (parts_.orphans.handle_segment(key, frame.ethernet, tcp->header)) return Verdict::kDrop;
  }
  if (stays) return bridging_.drop(Counter::kFilteredOwnSide);
  const PolicyKey seen = parts_.policy.key_of(frame, config::Direction::kOutbound);
  const RulePtr& rule = parts_.policy.match(seen);
  const auto bridge_connection = [&](Counter reason) {
    const Verdict verdict = bridging_.treat(*rule, reason, frame, PortId::kLan, bytes, now);
    if (is_syn && verdict != Verdict::kDrop) bridged_.note(seen_segment.key, reason, rule, now);
    return verdict;
  };
  if (bars(rule->rule)) return bridge_connection(Counter::kBridgedByRule);
  const AdmissionControl::Segment segment{key, frame, tcp->header,
                                          frame.payload.size() - tcp->header_size};
  std::optional<LaneId> lane;
  if (seen.peer) {
    lane = parts_.directory.lanes().of_flow(
        *seen.peer, flow_hash(key.local, key.remote, key.local_port, key.remote_port));
    if (!lane) return bridging_.drop(Counter::kDroppedOtherWorker);
  }
  const AdmissionControl::Decision decision =
      parts_.door.decide(segment, *rule, lane, parts_.flows.room(), now);
  using Kind = AdmissionControl::Decision::Kind;
  switch (decision.kind) {
    case Kind::kRelay:
      begin_flow(segment, decision.recovered, *lane, rule, now);
      return Verdict::kConsumed;
    case Kind::kCookie:
      parts_.door.answer_by_cookie(
          segment, parts_.lan.way_back(host_pair(key), frame.ethernet, now),
          parts_.flows.opening().endpoint_config(key, *lane, now), *lane, now);
      return Verdict::kConsumed;
    case Kind::kBridge: {
      if (is_want_of_room(decision.reason)) {
        ++parts_.lanes[*lane]->flows_refused;
        parts_.flows.room_maker().want(*lane, key.local);
      }
      const Verdict verdict = bridge_connection(decision.reason);
      if (is_syn && lane && verdict != Verdict::kDrop) {
        parts_.door.note_bridged(segment, decision.reason, *lane, verdict != Verdict::kBridge, now);
      }
      return verdict;
    }
    case Kind::kDrop:
      break;
  }
  return bridging_.drop(decision.reason);
}

// `recovered`: if `segment` is an ACK that returns a SYN cookie, the SYN reconstructed from the
// cookie. nullopt if `segment` is a SYN.
void LanInput::begin_flow(const AdmissionControl::Segment& segment,
                          const std::optional<wire::TcpHeader>& recovered, LaneId lane,
                          const RulePtr& rule, Instant now) {
  const auto& [key, frame, header, payload] = segment;
  if (!recovered) {
    parts_.flows.opening().accept(key, frame, header, std::nullopt, lane, rule, now);
    return;
  }
  parts_.flows.opening().accept(key, frame, *recovered, header.acknowledgment - 1, lane, rule, now);
  const tcp::Segment first{&header, frame.payload.last(payload),
                           tcp::ecn_field(frame.ip.traffic_class)};
  pass_to_flow(parts_.flows.flows().find(key), frame, {&first, 1}, now);
}

void LanInput::overhear(const Frame& frame, Instant now) {
  if (speaks_for_gateway(frame)) return;
  parts_.flows.hosts().hear(parts_.lan.learn_from_lan(frame, now));
  hear_told(frame, now);
}

}  // namespace satrelay::gateway
