// A host moves with its MAC and its address to the LAN of the other gateway, as a virtual machine
// does. Over a bridge its connections would go on. A relayed connection cannot: each host agreed
// about sequence numbers with the gateway on its own LAN, and now the two hosts speak to each
// other. So the gateways reset both.
//
// ARP and Neighbour Discovery are only hints, since any station can forge them. The gateway of the
// new LAN asks for the host there, and reports an answer to the gateway of the old LAN. That
// gateway asks for the host on its own LAN. It ends the host's flows with that peer only if it
// hears nothing of the host.
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/neighbours/announced_owner.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

bool Gateway::Impl::understands_arrivals(FarGatewayId peer) const {
  const auto lane = lane_addresses.find(peer, identity.share.worker);
  return lane && lanes[*lane]->control_messages.arrivals().are_understood();
}

// The prefixes of a peer may hold this LAN, too. So a host counts as a host of the peer only if it
// was a far host of a flow within a day, or was heard on the WAN within five minutes.
void Gateway::Impl::hear_told(const Frame& frame, Instant now) {
  const wire::EthernetHeader& seen = frame.ethernet;
  if (const auto own = own_address(frame); own && lan.may_be_host(seen.source) &&
                                           !policy.is_on_own_segment(*own) &&
                                           may_be_between(*own)) {
    common->between.note_own({*own, vlans_of(seen)}, now);
  }
  const auto told = announced_owner(frame);
  if (!told) return;
  arrivals.hear_told(*told, seen, now);
  departures.hear_told(*told, seen, now);
  const LanAddress address{told->host, vlans_of(seen)};
  const bool was_far = common->far_marks.find(told->host, FarMarks::kNoPort, now) ||
                       common->stations.was_heard(Side::kWan, {told->mac, vlans_of(seen)}, now);
  if (!was_far || !lan.may_be_host(told->mac)) return;
  const auto peer = policy.peer_for(told->host);
  if (!peer || lan.is_routed(*peer) || !understands_arrivals(*peer)) return;
  if (!arrivals.ask(address, {told->mac, seen.tags, seen.tag_count}, *peer, now)) {
    counters.add(Counter::kArrivalsUntold);
  }
}

// The peer reports that a host of this LAN has answered on the peer's LAN. The host must be known
// here by its own ARP. A host behind a router would not answer a question here.
void Gateway::Impl::handle_arrival(LaneId id, const HostArrival& arrival, Instant now) {
  const FarGatewayId peer = lanes[id]->address.peer;
  const wire::EthernetHeader& seen = arrival.ethernet;
  const LanAddress address{arrival.host, vlans_of(seen)};
  const NamedMac* const owner = lan.owners().owner(address);
  const bool is_known = owner != nullptr && owner->mac == seen.source &&
                        lan.may_be_host(seen.source) && !lan.is_routed(peer) &&
                        flows.quotas().hosts().find(arrival.host) != LanHosts::kNone;
  // Asks with the VLAN tags that the host has used here.
  const bool is_asked = is_known && departures.ask(address, *owner, peer, now);
  counters.add(is_asked ? Counter::kArrivalsHeard : Counter::kArrivalsRefused);
}

void Gateway::Impl::settle_moves(Instant now) {
  using State = PresenceChecks::State;
  arrivals.handle_timeout(now);
  departures.handle_timeout(now);
  while (const auto settled = arrivals.take_settled()) {
    if (settled->result == State::kHere) tell_arrival(settled->check, now);
    if (settled->result == State::kNone) counters.add(Counter::kArrivalsUntold);
  }
  bool has_left = false;
  while (const auto settled = departures.take_settled()) {
    if (settled->result == State::kHere) counters.add(Counter::kArrivalsDisputed);
    if (settled->result == State::kNone) counters.add(Counter::kArrivalsRefused);
    if (settled->result == State::kSilent) has_left = true;
  }
  if (has_left) flows.epochs().look_at_all();
}

// Reports on each lane, since each worker of the peer has flows of its own.
void Gateway::Impl::tell_arrival(const PresenceChecks::Check& check, Instant now) {
  wire::EthernetHeader seen = arrivals.towards(check);
  seen.source = check.named.mac;
  for (const LaneId id : lane_addresses.of(check.peer)) {
    Lane& lane = *lanes[id];
    const bool is_told =
        lane.control_messages.arrivals().tell({.host = check.address.host, .ethernet = seen}, now);
    counters.add(is_told ? Counter::kArrivalsTold : Counter::kArrivalsUntold);
    if (is_told) lane.bell.ring();
  }
}

}  // namespace satrelay::gateway
