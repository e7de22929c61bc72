#include "relay/gateway/bridging/bridging.h"

#include <algorithm>

#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/frames/bare_segment.h"
#include "relay/gateway/frames/frame_faults.h"
#include "relay/gateway/frames/layer_two.h"

namespace satrelay::gateway {
namespace {

// Without these messages no host could be found, so no rule applies to them.
bool is_neighbour_discovery(const Frame& frame) {
  return frame.kind == FrameKind::kIcmp && wire::is_neighbour_discovery(frame.ip, frame.payload);
}

}  // namespace

Verdict Bridging::treat(Counter reason, const Frame& frame, PortId from, ConstBytes bytes,
                        Instant now) {
  if (is_neighbour_discovery(frame)) return bridge(reason, frame, from, bytes, now);
  const auto direction =
      from == PortId::kLan ? config::Direction::kOutbound : config::Direction::kInbound;
  const PolicyKey key = policy_.key_of(frame, direction);
  return treat(*policy_.match(key), reason, frame, from, bytes, now);
}

Verdict Bridging::treat(ActiveRule& rule, Counter reason, const Frame& frame, PortId from,
                        ConstBytes bytes, Instant now) {
  switch (outcome_of(rule.rule, is_tcp(frame))) {
    case Outcome::kReset:
      if (const auto tcp = wire::parse_tcp(frame.payload)) {
        if (!passes_checksum(frame, counters_)) return Verdict::kDrop;
        refuse(frame, *tcp, from, now);
      }
      [[fallthrough]];
    case Outcome::kDropped:
      ++rule.use.dropped_frames;
      return drop(Counter::kDroppedByRule);
    case Outcome::kRelayed:
    case Outcome::kBridged:
      break;
  }
  const Verdict verdict = bridge(reason, rule.bridged_class, frame, from, bytes, now);
  if (frame.reassembled) {
    rule.use.bridged_frames += fragments_bridged_.frames;
    rule.use.bridged_bytes += fragments_bridged_.bytes;
  } else if (verdict != Verdict::kDrop) {
    ++rule.use.bridged_frames;
    rule.use.bridged_bytes += bytes.size();
  }
  return verdict;
}

Outcome Bridging::outcome_of(const config::Rule& rule, bool is_tcp) {
  switch (rule.action) {
    case config::Action::kReset:
      return is_tcp ? Outcome::kReset : Outcome::kDropped;
    case config::Action::kDrop:
      return Outcome::kDropped;
    case config::Action::kAccelerate:
    case config::Action::kBridge:
      break;
  }
  return Outcome::kBridged;
}

Bridging::Prospect Bridging::prospect(const ActiveRule& rule, bool is_tcp, PortId from) const {
  Prospect prospect{.outcome = outcome_of(rule.rule, is_tcp), .reason = reason_if_not_tcp(from)};
  if (prospect.outcome != Outcome::kBridged || !may_wait(from)) return prospect;
  const TrafficClasses& classes = uplink_.classes();
  const schedule::ClassId turn = uplink_.turns().turn_of(rule.bridged_class);
  const auto rates = uplink_.turns().least_rates(turn);
  prospect.turn = BridgedTurn{.traffic_class = classes[rule.bridged_class].in_force.name,
                              .turn = classes[turn].in_force.name,
                              .weight = rates.weight,
                              .guaranteed = rates.guaranteed,
                              .maximum = rates.maximum};
  return prospect;
}

// An RST towards the WAN is charged to a budget. Hosts behind a peer may use all of the budget, and
// other hosts half of it.
void Bridging::refuse(const Frame& frame, const wire::ParsedTcp& tcp, PortId from, Instant now) {
  if (!refusals_.answers(from, frame, tcp.header)) return;
  const bool known = policy_.peer_for(frame.ip.source).has_value();
  if (from == PortId::kWan && !uplink_.take(OwnFrame::kReset, known, kMostBareSegment, now)) {
    counters_.add(Counter::kResetsOverBudget);
    return;
  }
  refusals_.refuse(from, frame, tcp.header, frame.payload.size() - tcp.header_size);
}

// IP in a PPPoE session or behind MPLS labels is classified, and dropped if a rule says so. It is
// never relayed. No RST is sent, since it would have to return through the same tunnel.
Verdict Bridging::bridge_not_ip(const Frame& frame, PortId from, ConstBytes bytes, Instant now) {
  const bool from_lan = from == PortId::kLan;
  const auto inner = look_inside(frame);
  if (!inner) {
    return bridge(from_lan ? Counter::kBridgedNotIp : Counter::kBridgedFromWan, frame, from, bytes,
                  now);
  }
  const Counter reason = from_lan ? Counter::kBridgedEncapsulated : Counter::kBridgedFromWan;
  if (is_neighbour_discovery(*inner)) return bridge(reason, frame, from, bytes, now);
  const auto direction = from_lan ? config::Direction::kOutbound : config::Direction::kInbound;
  ActiveRule& rule = *policy_.match(policy_.key_of(*inner, direction));
  if (outcome_of(rule.rule, false) == Outcome::kDropped) {
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

Verdict Bridging::bridge(Counter reason, schedule::ClassId id, const Frame& frame, PortId from,
                         ConstBytes bytes, Instant now) {
  if (frame.reassembled) return bridge_fragments(id, frame, now);
  const std::size_t mtu = from == PortId::kWan ? lan_mtu_ : wan_mtu_;
  if (bytes.size() > wire::kEthernetHeaderSize + mtu) {
    const auto ethernet = wire::parse_ethernet(bytes);
    if (bytes.size() > mtu + (ethernet ? ethernet->size() : wire::kMaxEthernetHeaderSize)) {
      return drop(Counter::kDroppedTooLong);
    }
  }
  if (!may_wait(from)) {
    counters_.add(reason);
    counters_.add(Counter::kLanFramesOut);
    return Verdict::kBridge;
  }
  const Verdict verdict = admit(reason, id, frame, bytes.size(), now);
  if (verdict == Verdict::kBridge) counters_.add(Counter::kWanFramesOut);
  return verdict;
}

Verdict Bridging::admit(Counter reason, schedule::ClassId id, const Frame& frame,
                        std::size_t frame_size, Instant now) {
  const std::size_t ip_bytes = frame_size - std::min(frame_size, wire::kEthernetHeaderSize);
  // Frames that keep the layer-2 network working (ARP, BPDU, LACP) do not wait, unless their budget
  // is used up. A SYN on trial does not wait either, since its answer must arrive soon. SynTrials
  // allows only few such SYNs.
  const bool is_control = is_link_control(frame) || reason == Counter::kBridgedOnTrial;
  Uplink::BridgeOutcome passage = Uplink::BridgeOutcome::kLeaves;
  if (!is_control || !uplink_.pass_control(ip_bytes, now)) {
    if (is_control) counters_.add(Counter::kControlOverBudget);
    passage = uplink_.admit(id, frame, ip_bytes, now);
  }
  if (passage == Uplink::BridgeOutcome::kNoRoom) return drop(Counter::kDroppedBridgedQueue);
  counters_.add(reason);
  if (passage == Uplink::BridgeOutcome::kLeaves) return Verdict::kBridge;
  counters_.add(Counter::kHeldFrames);
  return Verdict::kQueued;
}

// Bridges the fragments in their order of arrival, each as if it had just arrived.
Verdict Bridging::bridge_fragments(schedule::ClassId id, const Frame& frame, Instant now) {
  fragments_bridged_ = {};
  while (const auto cell = reassembly_.take_fragment()) {
    const std::size_t size = reassembly_.frame(*cell).size();
    Verdict verdict = Verdict::kDrop;
    if (size > frame.ethernet.size() + wan_mtu_) {
      counters_.add(Counter::kDroppedTooLong);
    } else {
      verdict = admit(Counter::kBridgedFragment, id, frame, size, now);
    }
    if (verdict == Verdict::kDrop) {
      reassembly_.release(*cell);
      continue;
    }
    if (verdict == Verdict::kBridge) {
      released_.send(*cell);
    } else {
      released_.hold(uplink_.held_slot(), *cell);
    }
    ++fragments_bridged_.frames;
    fragments_bridged_.bytes += size;
  }
  return fragments_bridged_.frames > 0 ? Verdict::kConsumed : Verdict::kDrop;
}

}  // namespace satrelay::gateway
