#include "relay/gateway/flows/transfer/host_moves.h"

#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/neighbours/announced_owner.h"

namespace satrelay::gateway {

HostMoves::HostMoves(RelayParts& parts, const RelayEnvironment& around, HashKey secret)
    : parts_(parts),
      policy_(around.policy),
      arrivals_(PresenceChecks::Proof::kAnswer, secret, around.wan_mac, parts.common.awaited,
                parts.common.stations),
      departures_(PresenceChecks::Proof::kAnything, secret, around.wan_mac, parts.common.awaited,
                  parts.common.stations) {}

bool HostMoves::understands_arrivals(FarGatewayId peer) const {
  const LaneId lane = *parts_.peers[peer]->lanes.begin();
  return parts_.lanes[lane]->control_messages.arrivals().are_understood();
}

// The prefixes of a peer may also contain addresses of this LAN. So a host counts as a host of the
// peer only if it was the far host of a flow within a day, or was heard on the WAN within five
// minutes.
void HostMoves::hear_told(const Frame& frame, Instant now) {
  const wire::EthernetHeader& seen = frame.ethernet;
  const auto told = announced_owner(frame);
  if (!told) return;
  arrivals_.hear_told(*told, seen, now);
  departures_.hear_told(*told, seen, now);
  const LanAddress address{told->host, vlans_of(seen)};
  CommonKnowledge& common = parts_.common;
  const bool was_far = common.far_marks.find(told->host, FarMarks::kNoPort, now) ||
                       common.stations.was_heard(Side::kWan, {told->mac, vlans_of(seen)}, now);
  if (!was_far || !parts_.lan.may_be_host(told->mac)) return;
  const auto peer = policy_.peer_for(told->host);
  if (!peer || parts_.lan.is_routed(*peer) || !understands_arrivals(*peer)) return;
  if (!arrivals_.ask(address, {told->mac, seen.tags, seen.tag_count}, *peer, now)) {
    parts_.counters.add(Counter::kArrivalsUntold);
  }
}

// Accepts the report only if ARP or Neighbour Discovery has shown the host itself on this LAN. A
// host behind a router would not answer an ARP request here, and would seem to have left.
void HostMoves::handle_arrival(LaneId id, const HostArrival& arrival, Instant now) {
  const FarGatewayId peer = parts_.peer_of(id);
  const wire::EthernetHeader& seen = arrival.ethernet;
  const LanAddress address{arrival.host, vlans_of(seen)};
  const LanNeighbours& lan = parts_.lan;
  const NamedMac* const owner = lan.owners().owner(address);
  const bool is_known = owner != nullptr && owner->mac == seen.source &&
                        lan.may_be_host(seen.source) && !lan.is_routed(peer) &&
                        parts_.quotas.hosts().find(arrival.host) != LanHosts::kNone;
  // The ARP request has the VLAN tags that the host has used here.
  const bool is_asked = is_known && departures_.ask(address, *owner, peer, now);
  parts_.counters.add(is_asked ? Counter::kArrivalsHeard : Counter::kArrivalsRefused);
}

bool HostMoves::handle_timeout(Instant now) {
  using State = PresenceChecks::State;
  arrivals_.handle_timeout(now);
  departures_.handle_timeout(now);
  while (const auto settled = arrivals_.take_settled()) {
    if (settled->result == State::kHere) tell_arrival(settled->check, now);
    if (settled->result == State::kNone) parts_.counters.add(Counter::kArrivalsUntold);
  }
  bool has_left = false;
  while (const auto settled = departures_.take_settled()) {
    if (settled->result == State::kHere) parts_.counters.add(Counter::kArrivalsDisputed);
    if (settled->result == State::kNone) parts_.counters.add(Counter::kArrivalsRefused);
    if (settled->result == State::kSilent) has_left = true;
  }
  return has_left;
}

// Reports on each lane, since each worker of the peer has flows of its own.
void HostMoves::tell_arrival(const PresenceChecks::Check& check, Instant now) {
  wire::EthernetHeader seen = arrivals_.towards(check);
  seen.source = check.named.mac;
  for (const LaneId id : parts_.peers[check.peer]->lanes) {
    Lane& lane = *parts_.lanes[id];
    const bool is_told =
        lane.control_messages.arrivals().tell({.host = check.address.host, .ethernet = seen}, now);
    parts_.counters.add(is_told ? Counter::kArrivalsTold : Counter::kArrivalsUntold);
    if (is_told) lane.bell.ring();
  }
}

std::size_t HostMoves::poll_frame(MutableBytes out, Instant now) {
  const std::size_t size = arrivals_.poll_frame(out, now);
  return size > 0 ? size : departures_.poll_frame(out, now);
}

}  // namespace satrelay::gateway
