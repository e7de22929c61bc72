#include "relay/gateway/opening/doorkeeper.h"

#include "relay/gateway/frames/frame_faults.h"
#include "relay/gateway/frames/path_marks.h"

namespace satrelay::gateway {
namespace {

using Flags = wire::TcpFlags;
using Decision = Doorkeeper::Decision;

// With fewer free places, each cookie that may come back has one.
constexpr std::size_t kAmplePlaces = 4096;

Decision bridge(Counter reason) { return {.kind = Decision::Kind::kBridge, .reason = reason}; }
Decision drop(Counter reason) { return {.kind = Decision::Kind::kDrop, .reason = reason}; }

}  // namespace

Doorkeeper::Doorkeeper(const config::Gateway& config, HashKey secret, const Policy& policy,
                       const Claims& claims, const std::vector<std::unique_ptr<Peer>>& peers,
                       const SymmetricPaths& paths, Counters& counters)
    : policy_(policy),
      claims_(claims),
      peers_(peers),
      paths_(paths),
      records_(secret, config.limits.flows),
      cookies_(secret, counters),
      under_way_(secret),
      counters_(counters),
      misfits_(secret, *this, counters),
      unplaced_acks_(counters) {}

Decision Doorkeeper::decide(const Segment& segment, ActiveRule& rule,
                            std::optional<std::size_t> peer, const RoomForFlows& room,
                            Instant now) {
  const FlowKey& key = segment.key;
  const wire::TcpHeader& header = segment.header;
  const bool is_syn = header.opens_connection();
  // A host repeats such a segment by itself, so it does not wait for an answer to an ACK.
  const bool repeats =
      segment.payload > 0 || (header.flags & (Flags::kSyn | Flags::kFin | Flags::kRst)) != 0;
  if (repeats) unplaced_acks_.forget(key);
  // What opens a connection: a SYN, or an ACK that brings back the cookie by which one was
  // answered.
  auto recovered = cookies_.recover(key, header, now);
  // What a host sends behind an ACK that was dropped, or lost, must not be bridged: no host knows
  // of it. The host repeats it all, from the ACK on.
  if (!recovered && !is_syn &&
      (records_.dropped_acks.recalls(key, header.acknowledgment, now) ||
       cookies_.follows_a_lost_ack(key, header, now))) {
    return drop(Counter::kDroppedAfterCookie);
  }
  const wire::TcpHeader& opening = recovered ? *recovered : header;
  auto reason = reason_to_bridge(segment, opening, rule.rule, peer, now);
  const bool was_bridged = records_.bridged_syns.recalls(key, opening.sequence, now);
  if (!reason && (was_bridged || records_.in_use.has(key, now) ||
                  records_.refused_in_use.recalls(key, 0, now))) {
    reason = Counter::kBridgedMidStream;
  }
  // A SYN keeps IP options and extension headers, and its connection too: the hosts may need them
  // on the way. A cookie has answered a SYN that had none.
  if (!reason && !recovered && segment.frame.kind != FrameKind::kTcp) {
    reason = bridging_reason(segment.frame, Counter::kBridgedMidStream);
  }
  if (!reason) {
    if (const auto fault = checksum_fault(segment.frame)) return drop(*fault);
    // A host believes in the cookie that its SYN was answered by, or will: a repetition is answered
    // by the same, whatever room there is, as long as the cookie is remembered.
    if (is_syn && room.handshake(rule.rule, key, *peer, now).allows_cookies() &&
        (may_answer_by_cookie(*peer, key.local, room, now) ||
         cookies_.has_answered(key, header, now))) {
      return {.kind = Decision::Kind::kCookie};
    }
    reason = room.lack_of_room(*peer, key.local);
    if (!reason && !recovered && !room.may_be_half_open(*peer, key.local)) {
      reason = Counter::kBridgedHalfOpenFull;
    }
  }
  // The host has taken a SYN from the WAN: what it had with these ports before is over.
  if (header.has(Flags::kSyn) && header.has(Flags::kAck) &&
      records_.syns_from_wan.recalls(key, header.acknowledgment - 1, now)) {
    records_.ended.forget(key);
  }
  // Of a flow that is over no other host knows.
  if (reason == Counter::kBridgedMidStream && !is_syn && records_.ended.recalls(key, 0, now)) {
    if (const auto fault = checksum_fault(segment.frame)) return drop(*fault);
    refusals_.refuse(PortId::kLan, segment.frame, header, segment.payload);
    return drop(Counter::kDroppedAfterEnd);
  }
  if ((is_syn || recovered) && !was_bridged) ++rule.use.connections;
  if (recovered && !reason) {
    unplaced_acks_.forget(key);
    under_way_.remove(peers_[*peer]->lane.peer, key.local, now);
  }
  if (!reason) return {.kind = Decision::Kind::kRelay, .recovered = recovered};
  // The host takes its connection for open: there may be room, or a peer, when it sends again.
  if (recovered && (is_want_of_room(*reason) || reason == Counter::kBridgedPeerDown)) {
    if (!repeats) unplaced_acks_.add(key, segment.frame.ethernet.reversed(), header, now);
    records_.dropped_acks.remember(key, header.acknowledgment, now);
    return drop(Counter::kDroppedAfterCookie);
  }
  if (is_syn) {
    records_.bridged_syns.remember(key, opening.sequence, now);
    records_.ended.forget(key);
  }
  const SegmentNumbers numbers{.flags = header.flags,
                               .sequence = header.sequence,
                               .acknowledgment = header.acknowledgment,
                               .payload = static_cast<std::uint32_t>(segment.payload)};
  records_.in_use.look_from_lan(key, numbers, now);
  misfits_.look_from_lan(key, segment.frame.ethernet, numbers, peer, now);
  return bridge(bridging_reason(segment.frame, *reason));
}

std::optional<Counter> Doorkeeper::reason_to_bridge(const Segment& segment,
                                                    const wire::TcpHeader& opening,
                                                    const config::Rule& rule,
                                                    std::optional<std::size_t> peer,
                                                    Instant now) const {
  const FlowKey& key = segment.key;
  constexpr auto kHandshake =
      static_cast<std::uint8_t>(Flags::kSyn | Flags::kAck | Flags::kRst | Flags::kFin);
  if ((opening.flags & kHandshake) == (Flags::kSyn | Flags::kAck) &&
      !records_.syns_from_wan.recalls(key, opening.acknowledgment - 1, now)) {
    return Counter::kBridgedAsymmetric;
  }
  if (!opening.opens_connection()) return Counter::kBridgedMidStream;
  if (segment.frame.ethernet.destination.is_multicast() || key.remote.is_multicast()) {
    return Counter::kBridgedMulticast;
  }
  if (const auto reason = objection(key, rule, peer, now)) {
    // One of ours that a router of the LAN sends on to another peer is in order.
    const bool is_ours = reason == Counter::kBridgedForeignSource &&
                         records_.own_syns.recalls(untagged(key), opening.sequence, now);
    if (!is_ours) return reason;
    if (!is_accepted(key.local, *peer)) return Counter::kBridgedUnacceptedSource;
  }
  const wire::TcpOptions& options = opening.options;
  const bool takes_paths = options.has_mptcp && rule.mptcp == config::MptcpMode::kBridge;
  if (options.has_md5 || options.has_ao || options.has_mptcp_join || takes_paths) {
    return Counter::kBridgedTcpOptions;
  }
  // Answered here, the first hop would pass for the destination.
  if (segment.header.opens_connection() && segment.frame.ip.hop_limit <= kMostTtlOfAProbe) {
    return Counter::kBridgedLowTtl;
  }
  return std::nullopt;
}

std::optional<Counter> Doorkeeper::objection(const FlowKey& key, const config::Rule& rule,
                                             std::optional<std::size_t> peer, Instant now) const {
  if (policy_.is_on_own_segment(key.remote)) return Counter::kBridgedOwnSegment;
  if (!peer) return Counter::kBridgedNoPeerPrefix;
  if (!claims_.are_hosts(key.local, key.remote)) return Counter::kBridgedOwnSegment;
  if (rule.action != config::Action::kAccelerate) return Counter::kBridgedByRule;
  if (paths_.is_doubtful(key, now)) return Counter::kBridgedAsymmetric;
  if (records_.split_vlans.has(key, peers_[*peer]->lane.peer, now)) {
    return Counter::kBridgedOtherVlan;
  }
  if (admission_ == Admission::kBypass) return Counter::kBridgedBypass;
  if (admission_ == Admission::kDraining) return Counter::kBridgedDraining;
  if (peers_[*peer]->session.peer_state() != stp::PeerState::kAlive) {
    return Counter::kBridgedPeerDown;
  }
  if (peers_[*peer]->liaison.peer_admission() != Admission::kOpen) {
    return Counter::kBridgedPeerBypass;
  }
  // Relayed, the peer would have it for a host's own word, and its answers would come back to
  // whoever has said it. Bridged, they go where the address belongs.
  if (claims_.is_behind_a_peer(key.local)) return Counter::kBridgedForeignSource;
  if (!is_accepted(key.local, *peer)) return Counter::kBridgedUnacceptedSource;
  return std::nullopt;
}

bool Doorkeeper::is_accepted(const IpAddress& host, std::size_t session) const {
  return peers_[session]->liaison.sources().allow(host);
}

bool Doorkeeper::may_answer_by_cookie(std::size_t session, const IpAddress& host,
                                      const RoomForFlows& room, Instant now) {
  return !room.may_be_half_open(session, host) && !room.lack_of_room(session, host) &&
         under_way_.leave_one_of(room.places(session, host), kAmplePlaces,
                                 peers_[session]->lane.peer, host, now);
}

void Doorkeeper::answer_by_cookie(const Segment& syn, const wire::EthernetHeader& to_host,
                                  const tcp::Config& config, std::size_t session, Instant now) {
  cookies_.answer(syn.key, to_host, syn.header, config, now);
  under_way_.add(peers_[session]->lane.peer, syn.key.local, now);
}

void Doorkeeper::look_from_wan(const FlowKey& key, const wire::EthernetHeader& ethernet,
                               ConstBytes segment, Instant now) {
  const auto numbers = numbers_of(segment);
  records_.in_use.look_from_wan(key, numbers, now);
  if (wire::opens_connection(numbers.flags)) {
    records_.syns_from_wan.remember(key, numbers.sequence, now);
  }
  constexpr auto kAnswer = static_cast<std::uint8_t>(Flags::kSyn | Flags::kAck);
  if ((numbers.flags & kAnswer) == kAnswer) records_.split_vlans.look_at_answer(key, now);
  misfits_.look_from_wan(key, ethernet, numbers);
}

void Doorkeeper::handle_evidence(std::size_t session, const HostEvidence& evidence, Instant now) {
  const std::size_t peer = peers_[session]->lane.peer;
  if (claims_.allow(peer, evidence.near, evidence.far)) {
    misfits_.hear({session, peer}, evidence, now);
  } else {
    counters_.add(Counter::kEvidenceRefused);
  }
}

bool Doorkeeper::is_alive(std::size_t session) const {
  return peers_[session]->session.peer_state() == stp::PeerState::kAlive;
}

bool Doorkeeper::understands_evidence(std::size_t session) const {
  return peers_[session]->liaison.understands_evidence();
}

bool Doorkeeper::tell(std::size_t session, const HostEvidence& evidence, Instant now) {
  if (!peers_[session]->liaison.tell(evidence, now)) return false;
  peers_[session]->bell.ring();
  return true;
}

std::size_t Doorkeeper::poll_reset(PortId port, MutableBytes out) {
  if (port == PortId::kLan) {
    if (const std::size_t size = misfits_.poll_frame(out)) return size;
    if (const std::size_t size = unplaced_acks_.poll_frame(out)) return size;
  }
  return refusals_.poll_frame(port, out);
}

Instant Doorkeeper::next_timeout() const {
  if (cookies_.has_frames()) return Instant();
  return earlier(unplaced_acks_.next_timeout(),
                 earlier(misfits_.next_timeout(), refusals_.next_timeout()));
}

}  // namespace satrelay::gateway
