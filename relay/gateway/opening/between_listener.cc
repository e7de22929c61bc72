#include "relay/gateway/opening/between_listener.h"

#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/neighbours/announced_owner.h"
#include "relay/gateway/frames/neighbours/asked_owner.h"

namespace satrelay::gateway {

// Whether a peer's prefix of length 0 contains the address, and no longer prefix of a peer does.
bool BetweenListener::may_be_between(const IpAddress& address) const {
  return policy_.peer_for(address) && !claims_.is_behind_a_peer(address);
}

void BetweenListener::hear_own(const Frame& frame, Instant now) {
  const wire::EthernetHeader& seen = frame.ethernet;
  const auto own = own_address(frame);
  if (!own || !lan_.may_be_host(seen.source) || policy_.is_on_own_segment(*own)) return;
  if (may_be_between(*own)) between_.note_own({*own, vlans_of(seen)}, now);
}

void BetweenListener::hear_question(const Frame& frame, Instant now) {
  const auto asked = asked_owner(frame);
  if (!asked || !may_be_between(*asked)) return;
  between_.note_question({*asked, vlans_of(frame.ethernet)}, frame.ethernet.source, now);
}

void BetweenListener::hear_answer(const Frame& frame, Instant now) {
  const auto told = answering_owner(frame);
  if (!told || claims_.is_behind_a_peer(*told)) return;
  const auto peer = policy_.peer_for(*told);
  if (!peer) return;
  const auto path = door_.shortest_path(*peers_[*peer]->lanes.begin());
  if (!path || *path <= BetweenGateways::kShortestPath) return;
  between_.note_answer({*told, vlans_of(frame.ethernet)}, frame.ethernet.destination, *path / 2,
                       now);
}

}  // namespace satrelay::gateway
