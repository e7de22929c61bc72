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
  wire::EthernetHeader towards = seen.reversed();
  if (!f.is_unheard()) towards.destination = f.to_host.destination;
  const bool has_changed = std::exchange(f.to_host, towards) != towards;
  const bool is_from_there = seen.source == towards.destination;
  const bool acknowledges = news == HostNews::kAcknowledges;
  if (acknowledges && goes_home(f, seen.source)) return;
  const bool confirms = acknowledges || (news == HostNews::kBrings && is_from_there);
  if (confirms && f.seeks_host) {
    stay(f, seen, acknowledges && is_from_there ? Certainty::kSure : Certainty::kLikely);
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
  if (!f.seeks_host || !f.established) return false;
  FlowRare& rare = f.make_rare();
  const bool is_away = f.to_host.destination != rare.known_mac;
  if (!is_away || sender != rare.known_mac || rare.has_gone_home) return false;
  rare.has_gone_home = true;
  f.to_host.destination = rare.known_mac;
  return true;
}

// The host is reached by the MAC in use. Unless that is sure, the one before is tried again if it
// then falls silent.
void FlowRelay::stay(Flow& f, const wire::EthernetHeader& seen, Certainty certainty) {
  FlowRare& rare = f.make_rare();
  f.seeks_host = false;
  rare.has_gone_home = false;
  const MacAddress before = std::exchange(rare.known_mac, MacAddress());
  const bool is_doubted = certainty == Certainty::kLikely && before != f.to_host.destination;
  rare.other_mac = is_doubted ? before : MacAddress();
  lan_.note_receiver(f.key.local, seen, f.to_host.destination);
  write_down(f);
}

// The owner of its MAC was asked, and is silent.
void FlowRelay::follow_move(Flow& f, Instant now) {
  const auto other = new_claim(f, now);
  if (other && other->has_moved) try_claimed(f, *other);
}

// A repeat is due: the host has not acknowledged what went to the MAC in use. A flow that was led
// away goes home first, however many new claims there are: one that nobody confirms costs it that
// one repeat.
void FlowRelay::seek_host(Flow& f, Instant now) {
  if (f.is_unheard()) return;
  const FlowRare& rare = f.rare();
  if (f.seeks_host && f.to_host.destination != rare.known_mac) {
    f.to_host.destination = rare.known_mac;
  } else if (const auto other = new_claim(f, now)) {
    try_claimed(f, *other);
  } else if (rare.other_mac != MacAddress() && rare.other_mac != f.to_host.destination) {
    try_mac(f, rare.other_mac);
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
    if (f.seeks_host || rare.other_mac != MacAddress()) seek_host(f, now);
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
  if (!f.seeks_host) rare.known_mac = f.to_host.destination;
  f.seeks_host = true;
  rare.other_mac = mac;
  f.to_host.destination = mac;
}

}  // namespace satrelay::gateway
