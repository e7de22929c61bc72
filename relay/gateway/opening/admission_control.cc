#include "relay/gateway/opening/admission_control.h"

#include <algorithm>

#include "relay/gateway/frames/frame_faults.h"
#include "relay/gateway/frames/path_marks.h"

namespace satrelay::gateway {
namespace {

using Flags = wire::TcpFlags;
using Decision = AdmissionControl::Decision;

// If fewer slots than this are free, a free slot is reserved for each cookie that a host may still
// return.
constexpr std::size_t kAmplePlaces = 4096;

// If an address is confirmed to be between the gateways, the far gateway is asked again after this
// interval whether its LAN has the address.
constexpr Duration kAskPeerAgain = Duration::seconds(60);

Decision bridge(Counter reason) { return {.kind = Decision::Kind::kBridge, .reason = reason}; }
Decision drop(Counter reason) { return {.kind = Decision::Kind::kDrop, .reason = reason}; }

}  // namespace

AdmissionControl::AdmissionControl(const config::Gateway& config, HashKey secret,
                                   const Policy& policy, const Claims& claims, const Lanes& lanes,
                                   const SymmetricPaths& paths, BetweenGateways& between,
                                   Counters& counters)
    : policy_(policy),
      claims_(claims),
      lanes_(lanes),
      paths_(paths),
      between_(between),
      records_(secret, config.limits.flows),
      cookies_(secret, counters),
      under_way_(secret),
      counters_(counters),
      desync_detector_(secret, *this, counters),
      unplaced_acks_(counters) {}

Decision AdmissionControl::decide(const Segment& segment, ActiveRule& rule,
                                  std::optional<LaneId> lane, const FlowCapacity& room,
                                  Instant now) {
  const FlowKey& key = segment.key;
  const wire::TcpHeader& header = segment.header;
  const bool is_syn = header.opens_connection();
  // Whether the segment has data, SYN, FIN or RST. After such a segment the host does not wait for
  // its server: the host repeats the segment, or ends the connection.
  const bool repeats =
      segment.payload > 0 || (header.flags & (Flags::kSyn | Flags::kFin | Flags::kRst)) != 0;
  if (repeats) unplaced_acks_.forget(key);
  // A connection opens with a SYN, or with an ACK that returns the cookie with which the gateway
  // has answered a SYN.
  auto recovered = cookies_.recover(key, header, now);
  // If an ACK with a cookie was dropped or lost, the following segments must not be bridged, as the
  // far host has no such connection. The host repeats all of them, beginning with the ACK.
  if (!recovered && !is_syn &&
      (records_.dropped_acks.recalls(key, header.acknowledgment, now) ||
       cookies_.follows_a_lost_ack(key, header, now))) {
    return drop(Counter::kDroppedAfterCookie);
  }
  const wire::TcpHeader& opening = recovered ? *recovered : header;
  const bool was_tried = is_syn && end_overdue_trial(segment, now);
  auto reason = reason_to_bridge(segment, opening, rule.rule, lane, now);
  const bool was_bridged = records_.bridged_syns.recalls(key, opening.sequence, now);
  if (!reason && (was_bridged || records_.in_use.has(key, now) ||
                  records_.refused_in_use.recalls(key, 0, now))) {
    reason = Counter::kBridgedMidStream;
  }
  // A SYN with IP options or extension headers is bridged, and so is its connection: the hosts may
  // need these headers on the path. If a cookie has answered the SYN, the SYN had no such headers.
  if (!reason && !recovered && segment.frame.kind != FrameKind::kTcp) {
    reason = bridging_reason(segment.frame, Counter::kBridgedMidStream);
  }
  if (!reason) {
    if (const auto fault = checksum_fault(segment.frame)) return drop(*fault);
    if (is_syn && begin_trial(segment, *lane, now)) reason = Counter::kBridgedOnTrial;
  }
  if (!reason) {
    // A host that gets a cookie as the answer to its SYN has a complete handshake. So a repeated
    // SYN gets the same cookie, even if there is no room, as long as the cookie is remembered.
    if (is_syn &&
        (may_answer_by_cookie(*lane, key.local, room, now) ||
         cookies_.has_answered(key, header, now)) &&
        room.handshake(rule.rule, key, *lane, now).allows_cookies()) {
      return {.kind = Decision::Kind::kCookie};
    }
    reason = room.lack_of_room(*lane, key.local);
    if (!reason && !recovered && !room.may_be_half_open(*lane, key.local)) {
      reason = Counter::kBridgedHalfOpenFull;
    }
  }
  // The host has accepted a SYN from the WAN, so its earlier connection with these ports is over.
  if (header.has(Flags::kSyn) && header.has(Flags::kAck) &&
      records_.syns_from_wan.recalls(key, header.acknowledgment - 1, now)) {
    records_.ended.forget(key);
  }
  // The segment belongs to a flow that has ended. The far host has no connection with these
  // sequence numbers, so the gateway resets the sender instead of bridging the segment.
  if (reason == Counter::kBridgedMidStream && !is_syn && records_.ended.recalls(key, 0, now)) {
    if (const auto fault = checksum_fault(segment.frame)) return drop(*fault);
    refusals_.refuse(PortId::kLan, segment.frame, header, segment.payload);
    return drop(Counter::kDroppedAfterEnd);
  }
  if ((is_syn || recovered) && !was_bridged && !was_tried) ++rule.use.connections;
  if (recovered && !reason) {
    unplaced_acks_.forget(key);
    under_way_.remove(lanes_[*lane]->address.peer, key.local, now);
  }
  if (!reason) return {.kind = Decision::Kind::kRelay, .recovered = recovered};
  // The handshake is complete for the host, so the segment must not be bridged. It is dropped: when
  // the host repeats it, there may be room, or the peer may be alive again.
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
  desync_detector_.look_from_lan(key, segment.frame.ethernet, numbers, lane, now);
  return bridge(bridging_reason(segment.frame, *reason));
}

std::optional<Counter> AdmissionControl::reason_to_bridge(const Segment& segment,
                                                          const wire::TcpHeader& opening,
                                                          const config::Rule& rule,
                                                          std::optional<LaneId> lane,
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
  if (const auto reason = objection(key, rule, lane, now)) {
    // Allow a SYN of this gateway that a router of the LAN forwards to another peer.
    const bool is_ours = reason == Counter::kBridgedForeignSource &&
                         records_.own_syns.recalls(untagged(key), opening.sequence, now);
    if (!is_ours) return reason;
    if (!is_accepted(key.local, *lane)) return Counter::kBridgedUnacceptedSource;
  }
  const wire::TcpOptions& options = opening.options;
  const bool takes_paths = options.has_mptcp && rule.mptcp == config::MptcpMode::kBridge;
  if (options.has_md5 || options.has_ao || options.has_mptcp_join || takes_paths) {
    return Counter::kBridgedTcpOptions;
  }
  // The SYN may be a probe of traceroute. If the gateway answered it, a router on the path would
  // look like the destination.
  if (segment.header.opens_connection() && segment.frame.ip.hop_limit <= kMostTtlOfAProbe) {
    return Counter::kBridgedLowTtl;
  }
  return std::nullopt;
}

std::optional<Counter> AdmissionControl::objection(const FlowKey& key, const config::Rule& rule,
                                                   std::optional<LaneId> lane, Instant now) const {
  if (policy_.is_on_own_segment(key.remote)) return Counter::kBridgedOwnSegment;
  if (!lane) return Counter::kBridgedNoPeerPrefix;
  if (!claims_.are_hosts(key.local, key.remote)) return Counter::kBridgedOwnSegment;
  if (rule.action != config::Action::kAccelerate) return Counter::kBridgedByRule;
  if (paths_.is_doubtful(key, now)) return Counter::kBridgedAsymmetric;
  if (records_.split_vlans.has(key, lanes_[*lane]->address.peer, now)) {
    return Counter::kBridgedOtherVlan;
  }
  if (admission_ == Admission::kBypass) return Counter::kBridgedBypass;
  if (admission_ == Admission::kDraining) return Counter::kBridgedDraining;
  if (lanes_[*lane]->session.peer_state() != stp::PeerState::kAlive) {
    return Counter::kBridgedPeerDown;
  }
  if (lanes_[*lane]->control_messages.peer_admission() != Admission::kOpen) {
    return Counter::kBridgedPeerBypass;
  }
  // The source address may belong to a host behind a peer. If such a SYN were relayed, the far
  // gateway would treat it as a SYN of that host, and the answers would return to the sender,
  // possibly a forger. If the SYN is bridged, the answers go to the owner of the address.
  if (claims_.is_behind_a_peer(key.local)) return Counter::kBridgedForeignSource;
  if (!is_accepted(key.local, *lane)) return Counter::kBridgedUnacceptedSource;
  if (may_be_between(key, *lane) &&
      between_.state({key.remote, key.vlans}, now) == BetweenGateways::State::kConfirmed) {
    return Counter::kBridgedBetweenGateways;
  }
  return std::nullopt;
}

// If the link had a queue when a lane began, the lane has measured too long a round trip. So use
// the shortest round trip of all lanes to the peer.
std::optional<Duration> AdmissionControl::shortest_path(LaneId lane) const {
  std::optional<Duration> shortest;
  for (const LaneId id : lanes_[lane]->peer.lanes) {
    const auto path = lanes_[id]->session.path().shortest_rtt();
    if (path) shortest = std::min(shortest.value_or(*path), *path);
  }
  return shortest;
}

bool AdmissionControl::may_be_between(const FlowKey& key, LaneId lane) const {
  return !claims_.is_behind_a_peer(key.remote) && lanes_[lane]->session.agreed().between_gateways();
}

// A SYN with data is not tried: the first bytes of the connection must not cross the link
// unencrypted.
bool AdmissionControl::begin_trial(const Segment& syn, LaneId lane, Instant now) {
  const FlowKey& key = syn.key;
  const LanAddress address(key.remote, key.vlans);
  if (between_.state(address, now) != BetweenGateways::State::kHint || syn.payload > 0)
    return false;
  const auto path = shortest_path(lane);
  if (!may_be_between(key, lane) || !path || *path <= BetweenGateways::kShortestPath) {
    return false;
  }
  if (trials_.is_overdue(address, now)) {
    refute(address, now);
    return false;
  }
  // The peer's answer to ask() comes too late to decide about this SYN, but in time to end its
  // connection (refute()).
  const bool is_begun =
      ask(address, lane, now) &&
      trials_.begin(
          address, SynTrials::Sign::kHint,
          {.key = key, .sequence = syn.header.sequence, .sent = now, .within = *path / 2});
  if (!is_begun) counters_.add(Counter::kHintsUntried);
  return is_begun;
}

void AdmissionControl::note_bridged(const Segment& syn, Counter reason, LaneId lane, bool waits,
                                    Instant now) {
  const LanAddress address(syn.key.remote, syn.key.vlans);
  if (reason == Counter::kBridgedOnTrial) {
    if (const auto found = trials_.find(syn.key, syn.header.sequence, now); found.syn && waits) {
      found.syn->has_waited = true;
    }
  } else if (reason == Counter::kBridgedBetweenGateways) {
    follow_confirmed(syn, address, lane, waits, now);
  }
}

// A forger on the path may have sent the answers that confirmed the address. If so, the real far
// host also answers, or the far gateway reports the address, and this exposes the forger.
void AdmissionControl::follow_confirmed(const Segment& syn, const LanAddress& address, LaneId lane,
                                        bool waits, Instant now) {
  const auto path = shortest_path(lane);
  // `within` leaves a device between the gateways enough time to answer. No far host can answer
  // within this time.
  const bool is_begun = path && trials_.begin(address, SynTrials::Sign::kConfirmed,
                                              {.key = syn.key,
                                               .sequence = syn.header.sequence,
                                               .sent = now,
                                               .within = *path * 3 / 4,
                                               .has_waited = waits});
  if (!is_begun) return;
  SynTrials::Trial& trial = *trials_.trial_of(address);
  if (now >= trial.ask_again && ask(address, lane, now)) trial.ask_again = now + kAskPeerAgain;
}

bool AdmissionControl::ask(const LanAddress& address, LaneId lane, Instant now) {
  if (!lanes_[lane]->control_messages.questions().ask({address.host, address.vlans}, now))
    return false;
  lanes_[lane]->bell.ring();
  return true;
}

// Handles a repetition of a SYN that is on trial. Returns true if the trial is over and the
// repetition must be relayed. In this case the far host also gets a reset, so that it forgets the
// bridged SYN before the far gateway opens the connection.
bool AdmissionControl::end_overdue_trial(const Segment& syn, Instant now) {
  using Sign = SynTrials::Sign;
  const auto [trial, tried] = trials_.find(syn.key, syn.header.sequence, now);
  if (tried == nullptr || tried->answer || trial->sign == Sign::kConfirmed) return false;
  const LanAddress address = trial->address;
  if (trial->sign == Sign::kHint) {
    // The device may have answered a SYN that another worker has bridged.
    if (between_.state(address, now) == BetweenGateways::State::kConfirmed) {
      trial->sign = Sign::kConfirmed;
      return false;
    }
    // The SYN was reset if its answer came late: takes_back() has dropped this answer, and would
    // also drop the answer to a bridged repetition. So relay the repetition, even if only the
    // link's queue has delayed the answer.
    const bool is_late = tried->is_late(now) && !tried->has_waited;
    if (!is_late && !tried->is_reset) return false;
  }
  if (!tried->is_reset) {
    refusals_.take_back(syn.key, syn.frame.ethernet, syn.header.sequence + 1);
  }
  trials_.end(syn.key);
  records_.bridged_syns.forget(syn.key);
  refute(address, now);
  return true;
}

bool AdmissionControl::takes_back(const FlowKey& key, const wire::EthernetHeader& ethernet,
                                  ConstBytes segment, Instant now) {
  using Sign = SynTrials::Sign;
  const auto numbers = numbers_of(segment);
  const bool accepts = (numbers.flags & Flags::kSyn) != 0;
  const bool refuses = (numbers.flags & Flags::kRst) != 0;
  if ((numbers.flags & Flags::kAck) == 0 || accepts == refuses) return false;
  const auto [trial, tried] = trials_.find(key, numbers.acknowledgment - 1, now);
  if (tried == nullptr) return false;
  const LanAddress address = trial->address;
  if (tried->answer) {
    // Two senders have answered the same SYN. So the SYN has reached the far host, and the address
    // is not between the gateways, no matter how long the SYN has waited.
    const bool contradicts = accepts && *tried->answer != numbers.sequence && !tried->is_repeated;
    if (!contradicts) return false;
    refute(address, now);
  } else if (trial->sign != Sign::kVoid && !tried->is_late(now)) {
    trial->sign = Sign::kConfirmed;
    if (between_.confirm(address, now)) counters_.add(Counter::kAddressesBetween);
    // A refusal may be forged too. The SYN stays on trial, so that an answer of the far host can
    // expose the forger.
    if (accepts) tried->answer = numbers.sequence;
    return false;
  } else if (trial->sign == Sign::kConfirmed && (tried->has_waited || tried->is_repeated)) {
    return false;
  } else if (!tried->has_waited) {
    refute(address, now);
  }
  if (refuses) return false;  // the connection has ended: no bytes follow unencrypted
  records_.bridged_syns.forget(key);
  if (!tried->is_reset) {
    tried->is_reset = refusals_.take_back(key, ethernet.reversed(), numbers.acknowledgment);
  }
  return true;
}

// Call this when the address is known not to be between the gateways. The answers that arrived in
// time were then forged. The hosts that got these answers are reset when they send their next
// segments (`records_.ended`).
void AdmissionControl::refute(const LanAddress& address, Instant now) {
  if (SynTrials::Trial* const trial = trials_.trial_of(address)) {
    trial->sign = SynTrials::Sign::kVoid;
    for (SynTrials::Syn& syn : trial->all()) {
      if (!syn.answer) continue;
      syn.answer.reset();
      records_.bridged_syns.forget(syn.key);
      records_.ended.remember(syn.key, 0, now);
    }
  }
  if (between_.refute(address, now)) counters_.add(Counter::kHintsVoid);
}

bool AdmissionControl::is_accepted(const IpAddress& host, LaneId lane) const {
  return lanes_[lane]->control_messages.sources().allow(host);
}

bool AdmissionControl::may_answer_by_cookie(LaneId lane, const IpAddress& host,
                                            const FlowCapacity& room, Instant now) {
  return !room.may_be_half_open(lane, host) && !room.lack_of_room(lane, host) &&
         under_way_.leave_one_of(room.places(lane, host), kAmplePlaces, lanes_[lane]->address.peer,
                                 host, now);
}

void AdmissionControl::answer_by_cookie(const Segment& syn, const wire::EthernetHeader& to_host,
                                        const tcp::Config& config, LaneId lane, Instant now) {
  cookies_.answer(syn.key, to_host, syn.header, config, now);
  under_way_.add(lanes_[lane]->address.peer, syn.key.local, now);
}

void AdmissionControl::look_from_wan(const FlowKey& key, const wire::EthernetHeader& ethernet,
                                     ConstBytes segment, Instant now) {
  const auto numbers = numbers_of(segment);
  records_.in_use.look_from_wan(key, numbers, now);
  if (wire::opens_connection(numbers.flags)) {
    records_.syns_from_wan.remember(key, numbers.sequence, now);
  }
  constexpr auto kAnswer = static_cast<std::uint8_t>(Flags::kSyn | Flags::kAck);
  if ((numbers.flags & kAnswer) == kAnswer) records_.split_vlans.look_at_answer(key, now);
  desync_detector_.look_from_wan(key, ethernet, numbers);
}

void AdmissionControl::handle_evidence(LaneId lane, const HostEvidence& evidence, Instant now) {
  const FarGatewayId peer = lanes_[lane]->address.peer;
  if (claims_.allow(peer, evidence.near, evidence.far)) {
    desync_detector_.hear({lane, peer}, evidence, now);
  } else {
    counters_.add(Counter::kEvidenceRefused);
  }
}

bool AdmissionControl::is_alive(LaneId lane) const {
  return lanes_[lane]->session.peer_state() == stp::PeerState::kAlive;
}

bool AdmissionControl::understands_evidence(LaneId lane) const {
  return lanes_[lane]->control_messages.understands_evidence();
}

bool AdmissionControl::tell(LaneId lane, const HostEvidence& evidence, Instant now) {
  if (!lanes_[lane]->control_messages.tell(evidence, now)) return false;
  lanes_[lane]->bell.ring();
  return true;
}

std::size_t AdmissionControl::poll_reset(PortId port, MutableBytes out) {
  if (port == PortId::kLan) {
    if (const std::size_t size = desync_detector_.poll_frame(out)) return size;
    if (const std::size_t size = unplaced_acks_.poll_frame(out)) return size;
  }
  return refusals_.poll_frame(port, out);
}

Instant AdmissionControl::next_timeout() const {
  if (cookies_.has_frames()) return Instant();
  return earlier(unplaced_acks_.next_timeout(),
                 earlier(desync_detector_.next_timeout(), refusals_.next_timeout()));
}

}  // namespace satrelay::gateway
