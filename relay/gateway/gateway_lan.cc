// What arrives on the LAN port.
#include "pep/wire/tcp.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

namespace {

bool is_barred(const ActiveRule& rule) {
  return rule.rule.action == config::Action::kDrop || rule.rule.action == config::Action::kReset;
}

}  // namespace

Verdict Gateway::Impl::handle_lan(const Frame& frame, ConstBytes bytes, Instant now) {
  constexpr PortId kPort = PortId::kLan;
  std::uint32_t slot = kNoSlot;
  if (frame.kind != FrameKind::kTcp) hear(lan.learn_from_lan(frame));
  switch (frame.kind) {
    case FrameKind::kTcp:
      return handle_lan_tcp(frame, bytes, now);
    case FrameKind::kMalformed:
      return bridge(Counter::kBridgedMalformed, frame, kPort, bytes, now);
    case FrameKind::kNotIp:
    case FrameKind::kArp:
      return bridge(Counter::kBridgedNotIp, frame, kPort, bytes, now);
    case FrameKind::kFragment:
      if (concerns_relayed_flow(kPort, frame, slot)) {
        return drop(Counter::kDroppedFragmentOfRelayed);
      }
      return treat(Counter::kBridgedFragment, frame, kPort, bytes, now);
    case FrameKind::kIpOptions:
      if (concerns_relayed_flow(kPort, frame, slot)) return handle_relayed(slot, frame, bytes, now);
      return treat(Counter::kBridgedIpOptions, frame, kPort, bytes, now);
    case FrameKind::kIpExtension:
      if (concerns_relayed_flow(kPort, frame, slot)) {
        return drop(Counter::kDroppedFragmentOfRelayed);
      }
      return treat(Counter::kBridgedIpExtension, frame, kPort, bytes, now);
    case FrameKind::kIcmp:
      if (concerns_relayed_flow(kPort, frame, slot)) {
        flows.handle_icmp_error(slot, frame, now);
        return drop(Counter::kDroppedIcmpForRelayed);
      }
      break;
    case FrameKind::kUdp:
      if (is_gateway_address(frame.ip.source)) return drop(Counter::kDroppedForgedGateway);
      break;
    case FrameKind::kOtherIp:
      break;
  }
  return treat(Counter::kBridgedNotTcp, frame, kPort, bytes, now);
}

std::optional<Counter> Gateway::Impl::reason_to_bridge(const FlowKey& key, const Frame& frame,
                                                       const wire::TcpHeader& tcp,
                                                       const config::Rule& rule,
                                                       std::optional<std::size_t> peer,
                                                       Instant now) const {
  using Flags = wire::TcpFlags;
  constexpr auto kHandshake =
      static_cast<std::uint8_t>(Flags::kSyn | Flags::kAck | Flags::kRst | Flags::kFin);
  if ((tcp.flags & kHandshake) == (Flags::kSyn | Flags::kAck) &&
      !syns_from_wan.recalls(key, tcp.acknowledgment - 1, now)) {
    return Counter::kBridgedAsymmetric;
  }
  if ((tcp.flags & kHandshake) != Flags::kSyn) return Counter::kBridgedMidStream;
  if (frame.ethernet.destination.is_multicast() || key.remote.is_multicast()) {
    return Counter::kBridgedMulticast;
  }
  if (const auto reason = reason_not_to_relay(key, rule, peer, now)) return reason;
  const wire::TcpOptions& options = tcp.options;
  if (options.has_md5 || options.has_ao || options.has_mptcp_join) {
    return Counter::kBridgedTcpOptions;
  }
  return std::nullopt;
}

std::optional<Counter> Gateway::Impl::reason_not_to_relay(const FlowKey& key,
                                                          const config::Rule& rule,
                                                          std::optional<std::size_t> peer,
                                                          Instant now) const {
  if (policy.is_on_own_segment(key.remote)) return Counter::kBridgedOwnSegment;
  if (!peer) return Counter::kBridgedNoPeerPrefix;
  if (rule.action != config::Action::kAccelerate) return Counter::kBridgedByRule;
  if (unanswered.recalls(pair_of(key), 0, now)) return Counter::kBridgedAsymmetric;
  if (admission == Admission::kBypass) return Counter::kBridgedBypass;
  if (admission == Admission::kDraining) return Counter::kBridgedDraining;
  if (peers[*peer]->session.peer_state() != stp::PeerState::kAlive) {
    return Counter::kBridgedPeerDown;
  }
  if (peers[*peer]->liaison.peer_admission() != Admission::kOpen) {
    return Counter::kBridgedPeerBypass;
  }
  return std::nullopt;
}

// A segment with IP options, say, of a flow whose SYN had none: its options end here.
Verdict Gateway::Impl::handle_relayed(std::uint32_t slot, const Frame& frame, ConstBytes bytes,
                                      Instant now) {
  const auto tcp = wire::parse_tcp(frame.payload);
  if (!tcp) return bridge(Counter::kBridgedMalformed, frame, PortId::kLan, bytes, now);
  if (!checksum_ok(frame)) return Verdict::kDrop;
  flows.handle_segment(slot, frame, tcp->header, frame.payload.subspan(tcp->header_size), now);
  return Verdict::kConsumed;
}

Verdict Gateway::Impl::handle_lan_tcp(const Frame& frame, ConstBytes bytes, Instant now) {
  const auto tcp = wire::parse_tcp(frame.payload);
  if (!tcp) return bridge(Counter::kBridgedMalformed, frame, PortId::kLan, bytes, now);
  const FlowKey key{frame.ip.source, frame.ip.destination, tcp->header.source_port,
                    tcp->header.destination_port, vlans_of(frame.ethernet)};
  std::uint32_t slot = flows.find(key);
  const bool is_syn =
      tcp->header.has(wire::TcpFlags::kSyn) && !tcp->header.has(wire::TcpFlags::kAck);
  if (slot != kNoSlot && !checksum_ok(frame)) return Verdict::kDrop;
  if (slot != kNoSlot && !(is_syn && flows.make_way(slot, tcp->header))) {
    flows.handle_segment(slot, frame, tcp->header, frame.payload.subspan(tcp->header_size), now);
    return Verdict::kConsumed;
  }
  hear(lan.learn_from_lan(frame));  // a relayed flow follows its host's frames itself
  if (flows.orphans().size() > 0) {
    if (!checksum_ok(frame)) return Verdict::kDrop;
    if (flows.orphans().handle_segment(key, frame.ethernet, tcp->header)) return Verdict::kDrop;
  }
  const PolicyKey seen = policy.key_of(frame, config::Direction::kOutbound);
  const RulePtr& rule = policy.match(seen);
  if (is_barred(*rule)) {
    return treat(*rule, Counter::kBridgedByRule, frame, PortId::kLan, bytes, now);
  }
  // What opens a connection: a SYN, or an ACK that brings back the cookie by which one was
  // answered.
  const auto recovered = flows.cookies().recover(key, tcp->header, now);
  // What a host sends behind an ACK that was dropped, or lost, must not be bridged: no host knows
  // of it. The host repeats it all, from the ACK on.
  if (!recovered && !is_syn &&
      (after_cookie.recalls(key, tcp->header.acknowledgment, now) ||
       flows.cookies().follows_a_lost_ack(key, tcp->header, now))) {
    return drop(Counter::kDroppedAfterCookie);
  }
  const wire::TcpHeader& opening = recovered ? *recovered : tcp->header;
  auto reason = reason_to_bridge(key, frame, opening, rule->rule, seen.peer, now);
  const bool was_bridged = bridged_syns.recalls(key, opening.sequence, now);
  if (!reason && was_bridged) reason = Counter::kBridgedMidStream;
  if (!reason) {
    if (!checksum_ok(frame)) return Verdict::kDrop;
    if (is_syn && flows.answer_by_cookie(key, frame, opening, rule->rule, now)) {
      return Verdict::kConsumed;
    }
    std::optional<std::uint32_t> cookie;
    if (recovered) cookie = tcp->header.acknowledgment - 1;
    reason = flows.accept(key, frame, opening, cookie, *seen.peer, rule, now);
  }
  const bool opens = is_syn || recovered;
  if (opens && !was_bridged) ++rule->use.connections;
  if (!reason) {
    if (recovered) {
      flows.handle_segment(flows.find(key), frame, tcp->header,
                           frame.payload.subspan(tcp->header_size), now);
    }
    return Verdict::kConsumed;
  }
  // The host takes its connection for open: there may be room, or a peer, when it sends again.
  if (recovered && (reason == Counter::kBridgedTableFull || reason == Counter::kBridgedMemoryLow ||
                    reason == Counter::kBridgedPeerDown)) {
    after_cookie.remember(key, tcp->header.acknowledgment, now);
    return drop(Counter::kDroppedAfterCookie);
  }
  if (is_syn) bridged_syns.remember(key, opening.sequence, now);
  misfits.look_from_lan(key, frame.ethernet, frame.payload);
  return treat(*rule, *reason, frame, PortId::kLan, bytes, now);
}

}  // namespace satrelay::gateway
