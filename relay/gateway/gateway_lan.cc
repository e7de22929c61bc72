// What arrives on the LAN port.
#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {
namespace {

// What stands before the transport is what tells more of a segment that is bridged.
Counter reason_for(const Frame& frame, Counter otherwise) {
  switch (frame.kind) {
    case FrameKind::kIpOptions:
      return Counter::kBridgedIpOptions;
    case FrameKind::kIpExtension:
      return Counter::kBridgedIpExtension;
    default:
      return otherwise;
  }
}

}  // namespace

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
  const bool claims =
      is_gateway_address(frame.ip.source) || (advertised && is_gateway_address(*advertised));
  return claims && wan.is_in_own_network(frame.ethernet);
}

Verdict Gateway::Impl::handle_lan(const Frame& frame, ConstBytes bytes, Instant now) {
  constexpr PortId kPort = PortId::kLan;
  std::uint32_t slot = kNoSlot;
  if (speaks_for_gateway(frame)) return drop(Counter::kDroppedForgedGateway);
  if (is_tcp(frame)) return handle_lan_tcp(frame, bytes, now);
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
      flows.handle_icmp_error(slot, frame, now);
      return drop(Counter::kDroppedIcmpForRelayed);
    case FrameKind::kTcp:
    case FrameKind::kUdp:
    case FrameKind::kOtherIp:
      break;
  }
  return treat(reason_for(frame, Counter::kBridgedNotTcp), frame, kPort, bytes, now);
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
  const Verdict verdict = whole.extensions.fragment ? drop(Counter::kDroppedFragmentMalformed)
                                                    : handle_lan(whole, reassembly.whole(), now);
  reassembly.end_whole();
  return verdict;
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
  if (const auto reason = reason_not_to_relay(key, rule, peer, now)) {
    // One of ours that a router of the LAN sends on to another peer is in order.
    const bool is_ours =
        reason == Counter::kBridgedForeignSource && flows.is_own_syn(key, tcp, now);
    if (!is_ours) return reason;
  }
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
  // Relayed, the peer would have it for a host's own word, and its answers would come back to
  // whoever has said it. Bridged, they go where the address belongs.
  if (flows.claims().is_behind_a_peer(key.local)) return Counter::kBridgedForeignSource;
  return std::nullopt;
}

// IP options and extension headers of a relayed segment end here.
Verdict Gateway::Impl::handle_lan_tcp(const Frame& frame, ConstBytes bytes, Instant now) {
  const auto tcp = wire::parse_tcp(frame.payload);
  // Hosts forgive more than we do.
  if (!tcp) {
    const Counter reason = reason_for(frame, Counter::kBridgedMalformed);
    return treat(reason, frame, PortId::kLan, bytes, now);
  }
  const FlowKey key{frame.ip.source, frame.ip.destination, tcp->header.source_port,
                    tcp->header.destination_port, vlans_of(frame.ethernet)};
  std::uint32_t slot = flows.find(key);
  const bool is_syn =
      tcp->header.has(wire::TcpFlags::kSyn) && !tcp->header.has(wire::TcpFlags::kAck);
  if (slot != kNoSlot && !checksum_ok(frame)) return Verdict::kDrop;
  if (slot != kNoSlot && !(is_syn && flows.make_way(slot, tcp->header, now))) {
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
  if (bars(rule->rule)) {
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
  if (!reason && (was_bridged || flows.is_in_use(key, now))) reason = Counter::kBridgedMidStream;
  // A SYN keeps them, and its connection too: the hosts may need them on the way. A cookie has
  // answered a SYN that had none.
  if (!reason && !recovered && frame.kind != FrameKind::kTcp) {
    reason = reason_for(frame, Counter::kBridgedMidStream);
  }
  if (!reason) {
    if (!checksum_ok(frame)) return Verdict::kDrop;
    if (is_syn && flows.answer_by_cookie(key, frame, opening, *seen.peer, rule->rule, now)) {
      return Verdict::kConsumed;
    }
    std::optional<std::uint32_t> cookie;
    if (recovered) cookie = tcp->header.acknowledgment - 1;
    reason = flows.accept(key, frame, opening, cookie, *seen.peer, rule, now);
  }
  if (reason == Counter::kBridgedMidStream && !is_syn && flows.has_ended(key, now)) {
    if (!checksum_ok(frame)) return Verdict::kDrop;
    refusals.refuse(PortId::kLan, frame, tcp->header, frame.payload.size() - tcp->header_size);
    return drop(Counter::kDroppedAfterEnd);
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
  if (is_syn) {
    bridged_syns.remember(key, opening.sequence, now);
    flows.forget_ended(key);
  }
  misfits.look_from_lan(key, frame.ethernet, frame.payload);
  return treat(*rule, reason_for(frame, *reason), frame, PortId::kLan, bytes, now);
}

}  // namespace satrelay::gateway
