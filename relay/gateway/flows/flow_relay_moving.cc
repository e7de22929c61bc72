// To which MAC of the LAN a flow's frames go. The host's accepted segments tell, and the flow
// follows them. A host that only receives may have moved without a word of its own: then its flow
// tries what ARP and Neighbour Discovery claim (LanOwners), until the host acknowledges.
#include "relay/gateway/flows/flow_relay.h"

namespace satrelay::gateway {

void FlowRelay::follow_to(Flow& f, const wire::EthernetHeader& seen, Instant now) {
  const bool is_other_mac = seen.source != f.to_host.destination;
  f.seeks_host = false;
  f.to_host = seen.reversed();
  write_down(f);
  if (is_other_mac) lan_.note_sender(f.key.local, seen, now);
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
  if (f.seeks_host && f.to_host.destination != f.rare().known_mac) {
    f.to_host.destination = f.rare().known_mac;
  } else if (const auto other = new_claim(f, now)) {
    try_claimed(f, *other);
  } else if (f.seeks_host) {
    f.to_host.destination = f.rare().claimed_mac;
  }
}

std::optional<LanOwners::Other> FlowRelay::new_claim(const Flow& f, Instant now) const {
  if (f.is_unheard()) return std::nullopt;
  const auto other = lan_.owners().other({f.key.local, f.key.vlans}, f.to_host.destination, now);
  return other && other->claim != f.rare().claim ? other : std::nullopt;
}

// The journal learns of it when the host acknowledges.
void FlowRelay::try_claimed(Flow& f, const LanOwners::Other& other) {
  FlowRare& rare = f.make_rare();
  if (!f.seeks_host) rare.known_mac = f.to_host.destination;
  f.seeks_host = true;
  rare.claimed_mac = other.mac;
  rare.claim = other.claim;
  f.to_host.destination = other.mac;
}

}  // namespace satrelay::gateway
