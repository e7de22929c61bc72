// Chooses the MAC to which a flow's frames go on the LAN. A host may send from one MAC and receive
// on another, for example behind a pair of routers. So the flow keeps its MAC as long as the host
// acknowledges what goes there, whatever MAC the host's frames have. At first a flow to a server
// uses the MAC to which the client has addressed its SYN. A flow to a client uses the MAC that
// reached the client's address before, or the source of its SYN.
//
// A host that does not acknowledge has moved, or never was at that MAC. Then the flow tries the MAC
// to which the far host addresses its frames (LearnedDestinations), the MACs that ARP and Neighbour
// Discovery claim (LanOwners), and the MAC from which the host's frames come. After each of them it
// goes back to the MAC by which the host was known.
#include <utility>

#include "relay/gateway/flows/relay/flow_relay.h"

namespace satrelay::gateway {
namespace {

// Repeats that are so far apart come from a timer of the host, and not from one burst of losses.
constexpr Duration kBetweenRepeats = Duration::milliseconds(100);

}  // namespace

void FlowRelay::follow_to(Flow& f, const wire::EthernetHeader& seen, MacObservation news,
                          Instant now) {
  if (!lan_.may_be_host(seen.source)) return;
  wire::EthernetHeader towards = seen.reversed();
  if (!f.is_unconfirmed()) towards.destination = f.to_host.destination;
  if (towards.source != f.to_host.source) tell_destination(f, seen, now);
  const bool has_changed = std::exchange(f.to_host, towards) != towards;
  const bool is_from_there = seen.source == towards.destination;
  const bool acknowledges = news == MacObservation::kAcknowledges;
  const bool is_sure = acknowledges && f.endpoint.acknowledged() > f.rare().sent_before;
  if (acknowledges && !is_sure && goes_home(f, seen.source)) return;
  const bool confirms = acknowledges || (news == MacObservation::kBrings && is_from_there);
  if (confirms && f.seeks_host) {
    stay(f, seen, is_sure ? Certainty::kSure : Certainty::kLikely);
  } else if (has_changed && !f.seeks_host) {
    write_down(f);
  }
  if (!is_from_there) hear_elsewhere(f, seen, confirms, now);
}

// The host has begun to address its frames to another MAC. If a router is between the LANs, that
// MAC means nothing to the peer.
void FlowRelay::tell_destination(const Flow& f, const wire::EthernetHeader& seen, Instant now) {
  Peer& peer = *peers_[f.peer];
  LanDestinations& destinations = peer.control_messages.destinations();
  const HostPair pair = host_pair(f.key);
  const AnnouncedDestinations::Listener listener{f.peer, peer.epoch_log.count()};
  if (!f.state.has_stream() || lan_.is_routed(peer.lane.peer) ||
      !lan_.may_be_host(seen.destination) || !destinations.are_understood() ||
      !announced_destinations_.is_news(listener, pair, seen.destination, now)) {
    return;
  }
  if (!destinations.tell(
          {.stream = f.stream, .near = f.key.local, .far = f.key.remote, .ethernet = seen}, now)) {
    counters_.add(Counter::kDestinationsUntold);
    return;
  }
  announced_destinations_.note(listener, pair, seen.destination, now);
  counters_.add(Counter::kDestinationsTold);
  peer.bell.ring();
}

void FlowRelay::hear_destination(std::size_t peer, const LanDestination& told, Instant now) {
  const HostPair pair{{told.far, vlans_of(told.ethernet)}, told.near};
  const std::uint32_t slot = find_open(peer, told.stream, now);
  // Without this check a peer could fill the table with pairs of hosts that do not exist.
  if (slot == kNoSlot || host_pair(flow(slot).key) != pair || lan_.is_routed(configured(peer)) ||
      !lan_.may_be_host(told.ethernet.destination)) {
    counters_.add(Counter::kDestinationsRefused);
    return;
  }
  counters_.add(Counter::kDestinationsHeard);
  lan_.destinations().hear(pair, told.ethernet.destination, now);
  Flow& f = flow(slot);
  // The client has been sent nothing yet that could show where it is.
  if (f.origin == Origin::kLan && f.endpoint.owes_syn()) try_destination(f, now);
}

void FlowRelay::hear_elsewhere(Flow& f, const wire::EthernetHeader& seen, bool confirms,
                               Instant now) {
  FlowRare& rare = f.make_rare();
  if (std::exchange(rare.sender_mac, seen.source) == seen.source) return;
  if (confirms) {
    lan_.note_receiver(host_pair(f.key), seen, f.to_host.destination);
    rare.other_mac = seen.source;
    return;
  }
  if (f.seeks_host && seen.source == rare.known_mac) return;
  lan_.note_sender(f.key.local, seen, now);
  if (!try_destination(f, now)) try_mac(f, seen.source);
}

// While another MAC is tried, the first answer from the known MAC may be to frames that went there
// before. The next answer is not.
bool FlowRelay::goes_home(Flow& f, const MacAddress& sender) {
  if (!f.seeks_host) return false;
  FlowRare& rare = f.make_rare();
  const bool is_away = f.to_host.destination != rare.known_mac;
  if (!is_away || sender != rare.known_mac || !rare.may_go_home) return false;
  rare.may_go_home = false;
  send_to(f, rare.known_mac);
  return true;
}

// The MAC in use reaches the host. That is sure once the host acknowledges bytes that were first
// sent there. Before that, the host may have got the same bytes at the MAC before. The flow tries
// that one again if the host falls silent.
void FlowRelay::stay(Flow& f, const wire::EthernetHeader& seen, Certainty certainty) {
  FlowRare& rare = f.make_rare();
  const MacAddress here = f.to_host.destination;
  const MacAddress before = std::exchange(rare.known_mac, here);
  const bool is_sure = certainty == Certainty::kSure;
  if (is_sure) {
    f.seeks_host = false;
    rare.claims.end();
    rare.told_claims.end();
    rare.other_mac = MacAddress();
    if (seen.source == here) rare.sender_mac = MacAddress();
  } else if (before != here) {
    rare.may_go_home = false;
    rare.other_mac = before;
    rare.may_be_before = true;
  }
  if (is_sure || seen.source != here) lan_.note_receiver(host_pair(f.key), seen, here);
  if (is_sure || before != here) write_down(f);
}

// The gateway has asked the owner of the MAC in use, and the owner is silent.
void FlowRelay::follow_move(Flow& f, Instant now) {
  const auto other = new_claim(f, now);
  if (!other || !other->has_moved) return;
  try_claimed(f, *other);
  f.make_rare().owes_repeat =
      f.endpoint.unacknowledged() > 0 || !f.endpoint.is_synchronised() || f.closed_to_host;
}

// A repeat is due: the host has not acknowledged what went to the MAC in use. If the flow tries
// another MAC, it goes back to the known one first, however many new claims there are. So a claim
// that the host does not confirm costs the flow only one repeat.
void FlowRelay::seek_host(Flow& f, Instant now) {
  if (f.is_unconfirmed()) return;
  FlowRare& rare = f.make_rare();
  const MacAddress used = f.to_host.destination;
  if (std::exchange(rare.owes_repeat, false)) return;
  if (f.seeks_host && used != rare.known_mac) {
    send_to(f, rare.known_mac);
  } else if (try_new(f, now) || (f.seeks_host && try_again(f, now))) {
    return;
  } else if (rare.other_mac != MacAddress() && rare.other_mac != used) {
    try_mac(f, rare.other_mac);
  } else if (rare.sender_mac != MacAddress() && rare.sender_mac != used) {
    // This MAC has reached the host for sure. One repeat may only mean a loss, so the sender's MAC
    // is tried at the next repeat.
    rare.other_mac = rare.sender_mac;
  } else if (f.origin == Origin::kLan && !f.state.is_established()) {
    // A server is reached by the MAC that the far host uses.
    lan_.ask_for_owner({f.key.local, f.key.vlans}, f.to_host, now);
  }
}

bool FlowRelay::try_new(Flow& f, Instant now) {
  if (try_destination(f, now)) return true;
  const auto other = new_claim(f, now);
  if (other) try_claimed(f, *other);
  return other.has_value();
}

// The flow has tried all MACs without an answer, each with one segment only. If it is not sure of
// the known MAC, it tries the MAC before that one first.
bool FlowRelay::try_again(Flow& f, Instant now) {
  FlowRare& rare = f.make_rare();
  if (std::exchange(rare.may_be_before, false) && rare.other_mac != f.to_host.destination) {
    try_mac(f, rare.other_mac);
    return true;
  }
  const MacAddress& sender = rare.sender_mac;
  if (sender != MacAddress() && sender != f.to_host.destination && sender != rare.other_mac) {
    try_mac(f, sender);
    return true;
  }
  rare.claims.begin_again();
  rare.told_claims.begin_again();
  return try_new(f, now);
}

// The host has repeated data that had arrived. A single repeat means nothing. A host that repeats
// by its timer does not receive our acknowledgments.
void FlowRelay::note_repeat(Flow& f, Instant now) {
  FlowRare& rare = f.make_rare();
  const std::uint64_t in_order = f.endpoint.received().in_order_end();
  if (std::exchange(rare.stalled_at, in_order) != in_order) {
    rare.stalled_since = now;
  } else if (now >= rare.stalled_since + kBetweenRepeats) {
    rare.stalled_since = now;
    const bool has_another = rare.other_mac != MacAddress() || rare.sender_mac != MacAddress();
    if (f.seeks_host || has_another) seek_host(f, now);
  }
}

std::optional<LanOwners::Other> FlowRelay::new_claim(const Flow& f, Instant now) const {
  if (f.is_unconfirmed()) return std::nullopt;
  return lan_.owners().other({f.key.local, f.key.vlans}, f.to_host.destination, now,
                             f.rare().claims.last);
}

void FlowRelay::try_claimed(Flow& f, const LanOwners::Other& other) {
  f.make_rare().claims.note(other.claim);
  try_mac(f, other.mac);
}

// Tries the MAC to which the far host addresses its frames, once for each change of that MAC.
bool FlowRelay::try_destination(Flow& f, Instant now) {
  if (f.is_unconfirmed()) return false;
  const auto told = lan_.destinations().find(host_pair(f.key), now);
  if (!told || told->mac == f.to_host.destination || told->claim <= f.rare().told_claims.last) {
    return false;
  }
  f.make_rare().told_claims.note(told->claim);
  const auto other = new_claim(f, now);
  if (other && other->mac == told->mac) f.make_rare().claims.note(other->claim);
  try_mac(f, told->mac);
  return true;
}

// The journal gets the MAC when the host acknowledges.
void FlowRelay::try_mac(Flow& f, const MacAddress& mac) {
  FlowRare& rare = f.make_rare();
  if (!f.seeks_host) {
    rare.known_mac = f.to_host.destination;
    rare.may_go_home = f.state.is_established();
  }
  f.seeks_host = true;
  rare.other_mac = mac;
  send_to(f, mac);
}

void FlowRelay::send_to(Flow& f, const MacAddress& mac) {
  FlowRare& rare = f.make_rare();
  rare.sent_before = f.endpoint.sent();
  rare.owes_repeat = false;
  f.to_host.destination = mac;
}

}  // namespace satrelay::gateway
