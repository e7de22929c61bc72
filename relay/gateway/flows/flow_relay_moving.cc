// To which MAC of the LAN a flow's frames go. A host may send from one and receive on another, as
// behind a pair of routers. So the MAC in use stays as long as the host acknowledges what goes
// there, whatever MAC its frames have: at first the one that the far host uses, or, of a client,
// the one by which its address was reached before, or its SYN came.
//
// A host that does not acknowledge has moved, or never was there. Then its flow tries by which MAC
// its frames come, and what ARP and Neighbour Discovery claim (LanOwners), and between two of them
// goes back to the MAC by which the host was known.
#include <utility>

#include "relay/gateway/flows/flow_relay.h"

namespace satrelay::gateway {
namespace {

// Repeats that are so far apart answer to a timer of the host's, and not to one burst of losses.
constexpr Duration kBetweenRepeats = Duration::milliseconds(100);

}  // namespace

void FlowRelay::follow_to(Flow& f, const wire::EthernetHeader& seen, HostNews news, Instant now) {
  if (!lan_.may_be_host(seen.source)) return;
  wire::EthernetHeader towards = seen.reversed();
  if (!f.is_unheard()) towards.destination = f.to_host.destination;
  const bool has_changed = std::exchange(f.to_host, towards) != towards;
  const bool is_from_there = seen.source == towards.destination;
  const bool acknowledges = news == HostNews::kAcknowledges;
  const bool is_sure = acknowledges && f.endpoint.acknowledged() > f.rare().sent_before;
  if (acknowledges && !is_sure && goes_home(f, seen.source)) return;
  const bool confirms = acknowledges || (news == HostNews::kBrings && is_from_there);
  if (confirms && f.seeks_host) {
    stay(f, seen, is_sure ? Certainty::kSure : Certainty::kLikely);
  } else if (has_changed && !f.seeks_host) {
    write_down(f);
  }
  if (!is_from_there) hear_elsewhere(f, seen, confirms, now);
}

void FlowRelay::hear_elsewhere(Flow& f, const wire::EthernetHeader& seen, bool confirms,
                               Instant now) {
  FlowRare& rare = f.make_rare();
  if (std::exchange(rare.sender_mac, seen.source) == seen.source) return;
  if (confirms) {
    lan_.note_receiver(f.key.local, seen, f.to_host.destination);
    rare.other_mac = seen.source;
    return;
  }
  if (f.seeks_host && seen.source == rare.known_mac) return;
  lan_.note_sender(f.key.local, seen, now);
  try_mac(f, seen.source);
}

// The first answer that comes while another MAC is tried, from the known one, may be to what went
// there before. The next is not.
bool FlowRelay::goes_home(Flow& f, const MacAddress& sender) {
  if (!f.seeks_host) return false;
  FlowRare& rare = f.make_rare();
  const bool is_away = f.to_host.destination != rare.known_mac;
  if (!is_away || sender != rare.known_mac || !rare.may_go_home) return false;
  rare.may_go_home = false;
  send_to(f, rare.known_mac);
  return true;
}

// The host is reached by the MAC in use. That is sure when it acknowledges what has gone there
// first. Until then it may have got the same by the MAC before, and that is tried again if the host
// falls silent.
void FlowRelay::stay(Flow& f, const wire::EthernetHeader& seen, Certainty certainty) {
  FlowRare& rare = f.make_rare();
  const MacAddress here = f.to_host.destination;
  const MacAddress before = std::exchange(rare.known_mac, here);
  const bool is_sure = certainty == Certainty::kSure;
  if (is_sure) {
    f.seeks_host = false;
    rare.other_mac = MacAddress();
    if (seen.source == here) rare.sender_mac = MacAddress();
  } else if (before != here) {
    rare.may_go_home = false;
    rare.other_mac = before;
  }
  if (is_sure || seen.source != here) lan_.note_receiver(f.key.local, seen, here);
  if (is_sure || before != here) write_down(f);
}

// The owner of its MAC was asked, and is silent.
void FlowRelay::follow_move(Flow& f, Instant now) {
  const auto other = new_claim(f, now);
  if (!other || !other->has_moved) return;
  try_claimed(f, *other);
  f.make_rare().owes_repeat =
      f.endpoint.unacknowledged() > 0 || !f.endpoint.is_synchronised() || f.closed_to_host;
}

// A repeat is due: the host has not acknowledged what went to the MAC in use. A flow that was led
// away goes home first, however many new claims there are: one that nobody confirms costs it that
// one repeat.
void FlowRelay::seek_host(Flow& f, Instant now) {
  if (f.is_unheard()) return;
  FlowRare& rare = f.make_rare();
  const MacAddress used = f.to_host.destination;
  if (std::exchange(rare.owes_repeat, false)) return;
  if (f.seeks_host && used != rare.known_mac) {
    send_to(f, rare.known_mac);
  } else if (const auto other = new_claim(f, now)) {
    try_claimed(f, *other);
  } else if (rare.other_mac != MacAddress() && rare.other_mac != used) {
    try_mac(f, rare.other_mac);
  } else if (rare.sender_mac != MacAddress() && rare.sender_mac != used) {
    // It was reached here for sure. One repeat tells of a loss, and the next of more.
    rare.other_mac = rare.sender_mac;
  } else if (f.origin == Origin::kLan && !f.established) {
    // A server is sent to by the MAC that the far host knows.
    lan_.ask_for_owner({f.key.local, f.key.vlans}, f.to_host, now);
  }
}

// The host has sent again what had come. Once is nothing; who does so by its timer hears none of
// our acknowledgments.
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
  if (f.is_unheard()) return std::nullopt;
  const auto other = lan_.owners().other({f.key.local, f.key.vlans}, f.to_host.destination, now);
  return other && other->claim != f.rare().claim ? other : std::nullopt;
}

void FlowRelay::try_claimed(Flow& f, const LanOwners::Other& other) {
  f.make_rare().claim = other.claim;
  try_mac(f, other.mac);
}

// The journal learns of it when the host acknowledges.
void FlowRelay::try_mac(Flow& f, const MacAddress& mac) {
  FlowRare& rare = f.make_rare();
  if (!f.seeks_host) {
    rare.known_mac = f.to_host.destination;
    rare.may_go_home = f.established;
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
