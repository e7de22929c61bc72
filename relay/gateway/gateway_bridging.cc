// Frames that belong to no flow: whether they leave at once, wait, or concern a flow after all.
#include <algorithm>
#include <utility>

#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/frames/frame_faults.h"
#include "relay/gateway/frames/layer_two.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {
namespace {

// Whether the payload begins with the ports of a TCP segment, or of the first fragment of one.
bool shows_tcp_ports(const Frame& frame) {
  const bool begins = frame.kind == FrameKind::kFragment && frame.ip.is_first_fragment() &&
                      frame.ip.protocol == wire::kProtocolTcp && !hides_transport(frame);
  return (begins || is_tcp(frame)) && frame.payload.size() >= 4;
}

// Without these messages no host is found, so no rule applies to them.
bool is_neighbour_discovery(const Frame& frame) {
  return frame.kind == FrameKind::kIcmp && wire::is_neighbour_discovery(frame.ip, frame.payload);
}

}  // namespace

Verdict Gateway::Impl::treat(Counter reason, const Frame& frame, PortId from, ConstBytes bytes,
                             Instant now) {
  if (is_neighbour_discovery(frame)) return bridge(reason, frame, from, bytes, now);
  const auto direction =
      from == PortId::kLan ? config::Direction::kOutbound : config::Direction::kInbound;
  const PolicyKey key = policy.key_of(frame, direction);
  return treat(*policy.match(key), reason, frame, from, bytes, now);
}

Verdict Gateway::Impl::treat(ActiveRule& rule, Counter reason, const Frame& frame, PortId from,
                             ConstBytes bytes, Instant now) {
  switch (rule.rule.action) {
    case config::Action::kReset:
      if (const auto tcp = is_tcp(frame) ? wire::parse_tcp(frame.payload) : std::nullopt) {
        if (!checksum_ok(frame)) return Verdict::kDrop;
        refuse(frame, *tcp, from, now);
      }
      [[fallthrough]];
    case config::Action::kDrop:
      ++rule.use.dropped_frames;
      return drop(Counter::kDroppedByRule);
    case config::Action::kAccelerate:
    case config::Action::kBridge:
      break;
  }
  const Verdict verdict = bridge(reason, rule.bridged_class, frame, from, bytes, now);
  if (frame.reassembled) {
    rule.use.bridged_frames += fragments_bridged.frames;
    rule.use.bridged_bytes += fragments_bridged.bytes;
  } else if (verdict != Verdict::kDrop) {
    ++rule.use.bridged_frames;
    rule.use.bridged_bytes += bytes.size();
  }
  return verdict;
}

// An RST towards the WAN draws on a budget there. Hosts behind a peer may use all of it, other
// hosts half.
void Gateway::Impl::refuse(const Frame& frame, const wire::ParsedTcp& tcp, PortId from,
                           Instant now) {
  if (!door.refusals().answers(from, frame, tcp.header)) return;
  const bool known = policy.peer_for(frame.ip.source).has_value();
  if (from == PortId::kWan && !uplink.take(OwnFrame::kReset, known, kMostResetSize, now)) {
    counters.add(Counter::kResetsOverBudget);
    return;
  }
  door.refusals().refuse(from, frame, tcp.header, frame.payload.size() - tcp.header_size);
}

// IP in a PPPoE session or under MPLS labels is classified, and dropped if a rule says so. It is
// never relayed. No RST is sent, since it would have to go back through the same tunnel.
Verdict Gateway::Impl::bridge_not_ip(const Frame& frame, PortId from, ConstBytes bytes,
                                     Instant now) {
  const bool from_lan = from == PortId::kLan;
  const auto inner = look_inside(frame);
  if (!inner) {
    return bridge(from_lan ? Counter::kBridgedNotIp : Counter::kBridgedFromWan, frame, from, bytes,
                  now);
  }
  const Counter reason = from_lan ? Counter::kBridgedEncapsulated : Counter::kBridgedFromWan;
  if (is_neighbour_discovery(*inner)) return bridge(reason, frame, from, bytes, now);
  const auto direction = from_lan ? config::Direction::kOutbound : config::Direction::kInbound;
  ActiveRule& rule = *policy.match(policy.key_of(*inner, direction));
  const config::Action action = rule.rule.action;
  if (action == config::Action::kDrop || action == config::Action::kReset) {
    ++rule.use.dropped_frames;
    return drop(Counter::kDroppedByRule);
  }
  const Verdict verdict = bridge(reason, rule.bridged_class, frame, from, bytes, now);
  if (verdict != Verdict::kDrop) {
    ++rule.use.bridged_frames;
    rule.use.bridged_bytes += bytes.size();
  }
  return verdict;
}

Verdict Gateway::Impl::bridge(Counter reason, schedule::ClassId id, const Frame& frame, PortId from,
                              ConstBytes bytes, Instant now) {
  if (frame.reassembled) return bridge_fragments(id, frame, now);
  const std::size_t mtu = from == PortId::kWan ? config.lan.mtu : config.wan.mtu;
  if (bytes.size() > wire::kEthernetHeaderSize + mtu) {
    const auto ethernet = wire::parse_ethernet(bytes);
    if (bytes.size() > mtu + (ethernet ? ethernet->size() : wire::kMaxEthernetHeaderSize)) {
      return drop(Counter::kDroppedTooLong);
    }
  }
  if (from == PortId::kWan) {
    counters.add(reason);
    counters.add(Counter::kLanFramesOut);
    return Verdict::kBridge;
  }
  const Verdict verdict = admit(reason, id, frame, bytes.size(), now);
  if (verdict == Verdict::kBridge) counters.add(Counter::kWanFramesOut);
  return verdict;
}

Verdict Gateway::Impl::admit(Counter reason, schedule::ClassId id, const Frame& frame,
                             std::size_t frame_size, Instant now) {
  const std::size_t ip_bytes = frame_size - std::min(frame_size, wire::kEthernetHeaderSize);
  // Frames that keep the layer 2 network together (ARP, BPDU, LACP) do not wait, within their
  // budget. A SYN on trial does not wait either, since its answer must come soon. SynTrials lets
  // only few SYNs pass.
  const bool is_control = is_link_control(frame) || reason == Counter::kBridgedOnTrial;
  Uplink::BridgeOutcome passage = Uplink::BridgeOutcome::kLeaves;
  if (!is_control || !uplink.pass_control(ip_bytes, now)) {
    if (is_control) counters.add(Counter::kControlOverBudget);
    passage = uplink.admit(id, frame, ip_bytes, now);
  }
  if (passage == Uplink::BridgeOutcome::kNoRoom) return drop(Counter::kDroppedBridgedQueue);
  counters.add(reason);
  if (passage == Uplink::BridgeOutcome::kLeaves) return Verdict::kBridge;
  counters.add(Counter::kHeldFrames);
  return Verdict::kQueued;
}

// Bridges the fragments in their order of arrival, each as if it had just arrived.
Verdict Gateway::Impl::bridge_fragments(schedule::ClassId id, const Frame& frame, Instant now) {
  fragments_bridged = {};
  while (const auto cell = reassembly.take_fragment()) {
    const std::size_t size = reassembly.frame(*cell).size();
    Verdict verdict = Verdict::kDrop;
    if (size > frame.ethernet.size() + config.wan.mtu) {
      counters.add(Counter::kDroppedTooLong);
    } else {
      verdict = admit(Counter::kBridgedFragment, id, frame, size, now);
    }
    if (verdict == Verdict::kDrop) {
      reassembly.release(*cell);
      continue;
    }
    if (verdict == Verdict::kBridge) {
      released.send(*cell);
    } else {
      released.hold(uplink.held_slot(), *cell);
    }
    ++fragments_bridged.frames;
    fragments_bridged.bytes += size;
  }
  return fragments_bridged.frames > 0 ? Verdict::kConsumed : Verdict::kDrop;
}

bool Gateway::Impl::concerns_relayed_flow(PortId port, const Frame& frame,
                                          std::uint32_t& slot) const {
  FlowKey key;
  key.vlans = vlans_of(frame.ethernet);
  if (is_icmp(frame)) {
    const auto message = wire::parse_icmp(frame.ip, frame.payload);
    if (!message || !wire::is_icmp_error(frame.ip, *message)) return false;
    const auto quoted = wire::parse_quoted_flow(frame.ip, *message);
    if (!quoted || quoted->protocol != wire::kProtocolTcp) return false;
    // An error on the LAN quotes a packet that the gateway sent to the host. An error on the WAN
    // quotes a packet that the host sent.
    key.local = quoted->destination;
    key.remote = quoted->source;
    key.local_port = quoted->destination_port;
    key.remote_port = quoted->source_port;
  } else {
    if (!shows_tcp_ports(frame)) return false;
    key.local = frame.ip.source;
    key.remote = frame.ip.destination;
    key.local_port = load_u16(frame.payload.data());
    key.remote_port = load_u16(frame.payload.data() + 2);
  }
  if (port == PortId::kWan) {
    std::swap(key.local, key.remote);
    std::swap(key.local_port, key.remote_port);
  }
  slot = flows.flows().find(key);
  return slot != kNoSlot || flows.time_waits().contains(key);
}

bool Gateway::Impl::checksum_ok(const Frame& frame) {
  const auto fault = checksum_fault(frame);
  if (fault) counters.add(*fault);
  return !fault;
}

}  // namespace satrelay::gateway
