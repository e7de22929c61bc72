#include "relay/gateway/flows/transfer/host_tracker.h"

#include <utility>

namespace satrelay::gateway {
namespace {

// Repeats with at least this interval come from a timer of the host, and not from one burst of
// losses.
constexpr Duration kBetweenRepeats = Duration::milliseconds(100);
// Maximum number of flows of one host that one call visits.
constexpr int kFlowsOfHostPerCall = 64;

}  // namespace

void HostTracker::follow_to(Flow& f, const wire::EthernetHeader& seen, MacObservation news,
                            Instant now) {
  if (!parts_.lan.may_be_host(seen.source)) return;
  wire::EthernetHeader towards = seen.reversed();
  if (!f.is_unconfirmed()) towards.destination = f.lan.to_host.destination;
  if (towards.source != f.lan.to_host.source) tell_destination(f, seen, now);
  const bool has_changed = std::exchange(f.lan.to_host, towards) != towards;
  const bool is_from_there = seen.source == towards.destination;
  const bool acknowledges = news == MacObservation::kAcknowledges;
  const bool is_sure = acknowledges && f.endpoint.sending().acknowledged() > f.rare().sent_before;
  if (acknowledges && !is_sure && goes_home(f, seen.source)) return;
  const bool confirms = acknowledges || (news == MacObservation::kBrings && is_from_there);
  if (confirms && f.lan.seeks_host) {
    stay(f, seen, is_sure ? Certainty::kSure : Certainty::kLikely);
  } else if (has_changed && !f.lan.seeks_host) {
    write_down(f);
  }
  if (!is_from_there) hear_elsewhere(f, seen, confirms, now);
}

// The host has begun to address its frames to another MAC. If there is a router between the LANs,
// that MAC is meaningless to the peer.
void HostTracker::tell_destination(const Flow& f, const wire::EthernetHeader& seen, Instant now) {
  Lane& lane = parts_.lane_of(f);
  LanDestinations& destinations = lane.control_messages.destinations();
  const HostPair pair = host_pair(f.key);
  const AnnouncedDestinations::Listener listener{f.lane, lane.epoch_log.count()};
  if (!f.state.has_stream() || parts_.lan.is_routed(lane.address.peer) ||
      !parts_.lan.may_be_host(seen.destination) || !destinations.are_understood() ||
      !announced_destinations_.is_news(listener, pair, seen.destination, now)) {
    return;
  }
  if (!destinations.tell(
          {.stream = f.stream, .near = f.key.local, .far = f.key.remote, .ethernet = seen}, now)) {
    parts_.counters.add(Counter::kDestinationsUntold);
    return;
  }
  announced_destinations_.note(listener, pair, seen.destination, now);
  parts_.counters.add(Counter::kDestinationsTold);
  lane.bell.ring();
}

void HostTracker::hear_destination(LaneId lane, std::uint32_t slot, const LanDestination& told,
                                   Instant now) {
  const HostPair pair{{told.far, vlans_of(told.ethernet)}, told.near};
  // Without this check a peer could fill the table with pairs of hosts that do not exist.
  if (slot == kNoSlot || host_pair(parts_.flows[slot].key) != pair ||
      parts_.lan.is_routed(parts_.peer_of(lane)) ||
      !parts_.lan.may_be_host(told.ethernet.destination)) {
    parts_.counters.add(Counter::kDestinationsRefused);
    return;
  }
  parts_.counters.add(Counter::kDestinationsHeard);
  parts_.lan.destinations().hear(pair, told.ethernet.destination, now);
  Flow& f = parts_.flows[slot];
  // Nothing was sent to the client yet that could have shown where the client is.
  if (f.origin == Origin::kLan && f.endpoint.opening().owes_syn()) try_destination(f, now);
}

void HostTracker::hear_elsewhere(Flow& f, const wire::EthernetHeader& seen, bool confirms,
                                 Instant now) {
  FlowRare& rare = f.make_rare();
  if (std::exchange(rare.sender_mac, seen.source) == seen.source) return;
  if (confirms) {
    parts_.lan.note_receiver(host_pair(f.key), seen, f.lan.to_host.destination);
    rare.other_mac = seen.source;
    return;
  }
  if (f.lan.seeks_host && seen.source == rare.known_mac) return;
  parts_.lan.note_sender(f.key.local, seen, now);
  if (!try_destination(f, now)) try_mac(f, seen.source);
}

// If the flow tries another MAC, and an answer arrives from the known MAC, the flow returns to the
// known MAC: frames that were sent there may have caused the answer. It returns only once.
bool HostTracker::goes_home(Flow& f, const MacAddress& sender) {
  if (!f.lan.seeks_host) return false;
  FlowRare& rare = f.make_rare();
  const bool is_away = f.lan.to_host.destination != rare.known_mac;
  if (!is_away || sender != rare.known_mac || !rare.may_go_home) return false;
  rare.may_go_home = false;
  send_to(f, rare.known_mac);
  return true;
}

// The MAC in use reaches the host. That is sure once the host acknowledges bytes that were first
// sent to this MAC. Until then, the host may have received the same bytes at the previous MAC. The
// flow tries the previous MAC again if the host becomes silent.
void HostTracker::stay(Flow& f, const wire::EthernetHeader& seen, Certainty certainty) {
  FlowRare& rare = f.make_rare();
  const MacAddress here = f.lan.to_host.destination;
  const MacAddress before = std::exchange(rare.known_mac, here);
  const bool is_sure = certainty == Certainty::kSure;
  if (is_sure) {
    f.lan.seeks_host = false;
    rare.claims.end();
    rare.told_claims.end();
    rare.other_mac = MacAddress();
    if (seen.source == here) rare.sender_mac = MacAddress();
  } else if (before != here) {
    rare.may_go_home = false;
    rare.other_mac = before;
    rare.may_be_before = true;
  }
  if (is_sure || seen.source != here) parts_.lan.note_receiver(host_pair(f.key), seen, here);
  if (is_sure || before != here) write_down(f);
}

void HostTracker::follow_move(Flow& f, Instant now) {
  const auto other = new_claim(f, now);
  if (!other || !other->has_moved) return;
  try_claimed(f, *other);
  f.make_rare().owes_repeat = f.endpoint.sending().unacknowledged() > 0 ||
                              !f.endpoint.is_synchronised() || f.state.has_passed_far_end();
}

void HostTracker::seek_host(Flow& f, Instant now) {
  if (f.is_unconfirmed()) return;
  FlowRare& rare = f.make_rare();
  const MacAddress used = f.lan.to_host.destination;
  if (std::exchange(rare.owes_repeat, false)) return;
  if (f.lan.seeks_host && used != rare.known_mac) {
    send_to(f, rare.known_mac);
  } else if (try_new(f, now) || (f.lan.seeks_host && try_again(f, now))) {
    return;
  } else if (rare.other_mac != MacAddress() && rare.other_mac != used) {
    try_mac(f, rare.other_mac);
  } else if (rare.sender_mac != MacAddress() && rare.sender_mac != used) {
    // The MAC in use has reached the host before, and perhaps a segment was only lost. So the
    // source MAC of the host's frames is tried only if the host repeats its data once more.
    rare.other_mac = rare.sender_mac;
  } else if (f.origin == Origin::kLan && !f.state.is_established()) {
    // A flow to a server needs no ARP request: it uses the MAC to which the far host sends.
    parts_.lan.ask_for_owner({f.key.local, f.key.vlans}, f.lan.to_host, now);
  }
}

bool HostTracker::try_new(Flow& f, Instant now) {
  if (try_destination(f, now)) return true;
  const auto other = new_claim(f, now);
  if (other) try_claimed(f, *other);
  return other.has_value();
}

// The flow has tried all MACs without an answer, each with one segment only. So it tries them
// again, and begins with the host's previous MAC if the host may have returned there.
bool HostTracker::try_again(Flow& f, Instant now) {
  FlowRare& rare = f.make_rare();
  if (std::exchange(rare.may_be_before, false) && rare.other_mac != f.lan.to_host.destination) {
    try_mac(f, rare.other_mac);
    return true;
  }
  const MacAddress& sender = rare.sender_mac;
  if (sender != MacAddress() && sender != f.lan.to_host.destination && sender != rare.other_mac) {
    try_mac(f, sender);
    return true;
  }
  rare.claims.begin_again();
  rare.told_claims.begin_again();
  return try_new(f, now);
}

void HostTracker::note_repeat(Flow& f, Instant now) {
  FlowRare& rare = f.make_rare();
  const std::uint64_t in_order = f.endpoint.received().in_order_end();
  if (std::exchange(rare.stalled_at, in_order) != in_order) {
    rare.stalled_since = now;
  } else if (now >= rare.stalled_since + kBetweenRepeats) {
    rare.stalled_since = now;
    const bool has_another = rare.other_mac != MacAddress() || rare.sender_mac != MacAddress();
    if (f.lan.seeks_host || has_another) seek_host(f, now);
  }
}

std::optional<LanOwners::Other> HostTracker::new_claim(const Flow& f, Instant now) const {
  if (f.is_unconfirmed()) return std::nullopt;
  return parts_.lan.owners().other({f.key.local, f.key.vlans}, f.lan.to_host.destination, now,
                                   f.rare().claims.last);
}

void HostTracker::try_claimed(Flow& f, const LanOwners::Other& other) {
  f.make_rare().claims.note(other.claim);
  try_mac(f, other.mac);
}

// Tries the MAC to which the far host addresses its frames, once for each change of that MAC.
bool HostTracker::try_destination(Flow& f, Instant now) {
  if (f.is_unconfirmed()) return false;
  const auto told = parts_.lan.destinations().find(host_pair(f.key), now);
  if (!told || told->mac == f.lan.to_host.destination || told->claim <= f.rare().told_claims.last) {
    return false;
  }
  f.make_rare().told_claims.note(told->claim);
  const auto other = new_claim(f, now);
  if (other && other->mac == told->mac) f.make_rare().claims.note(other->claim);
  try_mac(f, told->mac);
  return true;
}

// The journal gets the MAC only when the host acknowledges bytes.
void HostTracker::try_mac(Flow& f, const MacAddress& mac) {
  FlowRare& rare = f.make_rare();
  if (!f.lan.seeks_host) {
    rare.known_mac = f.lan.to_host.destination;
    rare.may_go_home = f.state.is_established();
  }
  f.lan.seeks_host = true;
  rare.other_mac = mac;
  send_to(f, mac);
}

void HostTracker::send_to(Flow& f, const MacAddress& mac) {
  FlowRare& rare = f.make_rare();
  rare.sent_before = f.endpoint.sending().sent();
  rare.owes_repeat = false;
  f.lan.to_host.destination = mac;
}

void HostTracker::ask(std::uint32_t slot, Instant now) {
  const Flow& f = parts_.flows[slot];
  parts_.lan.ask(f.key.local, now);
  parts_.unconfirmed.add(slot, f.key.local, f.lan.to_host);
}

void HostTracker::hear(const IpAddress& host, const wire::EthernetHeader& towards) {
  hear_from(parts_.unconfirmed.first(host, towards), host, towards);
}

// If very many flows wait for this host, or have the same hash, later calls visit the remaining
// flows.
void HostTracker::hear_from(std::uint32_t slot, const IpAddress& host,
                            const wire::EthernetHeader& towards) {
  for (int visited = 0; slot != kNoSlot; ++visited) {
    if (visited == kFlowsOfHostPerCall) {
      parts_.unconfirmed.defer(host, slot);
      return;
    }
    parts_.work.add();
    const std::uint32_t next = parts_.unconfirmed.next(slot);
    Flow& f = parts_.flows[slot];
    if (!f.is_unconfirmed()) {
      parts_.unconfirmed.remove(slot);
    } else if (f.key.local == host && f.key.vlans == vlans_of(towards)) {
      parts_.unconfirmed.remove(slot);
      const wire::EtherType type = f.lan.to_host.type;
      f.lan.to_host = towards;
      f.lan.to_host.type = type;
      write_down(f);
      parts_.queue(slot);
    }
    slot = next;
  }
}

void HostTracker::go_on(Instant now) {
  const auto waiting = parts_.unconfirmed.take_deferred();
  if (!waiting) return;
  const auto towards = parts_.lan.find(waiting->host, now);
  if (!towards) return;
  hear_from(parts_.unconfirmed.go_on(waiting->slot, waiting->host, *towards), waiting->host,
            *towards);
}

void HostTracker::write_down(Flow& f) {
  if (f.journal_place != FlowJournal::kNowhere) {
    parts_.journal.change(f.journal_place, {f.key, f.lan.to_host});
    return;
  }
  f.journal_place = parts_.journal.keep({f.key, f.lan.to_host});
  const bool full = f.journal_place == FlowJournal::kNowhere && parts_.journal.places() > 0;
  if (full) parts_.counters.add(Counter::kFlowsUnjournalled);
}

}  // namespace satrelay::gateway
