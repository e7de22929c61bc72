// What the faults of a run excuse, flow by flow: no more than the protocols leave open.
#pragma once

#include <cstddef>

#include "relay/sim/network/network.h"

namespace satrelay::sim {

struct Excuses {
  // A RST that is meant for this host may be lost on the way, and is not repeated. Its gateway's
  // RST has one cable to cross; that of the far host, if the flow is bridged, the whole path.
  bool client_may_miss_reset = false;
  bool server_may_miss_reset = false;
  // A gateway that relayed it has forgotten it: its hosts are reset.
  bool caught_by_restart = false;
  // Both have, and keep no journal, or the one that remembers has no room for a list: hosts that
  // say nothing more hear nothing more.
  bool forgotten = false;
  // Most of the client's SYNs found no way.
  bool syns_in_vain = false;
  // An outage was longer than the gateways, and Linux's clients, wait for a handshake.
  bool handshake_outlasted = false;
  // A SYN cookie leaves nothing to repeat: who waits for the other to speak, and whose ACK is lost,
  // waits in vain (RFC 4987 section 3.6).
  bool ack_of_cookie_may_be_lost = false;
  // The far gateway may have refused it for want of room.
  bool far_table_may_be_full = false;
  // A gateway has ended flows that stood still, as others wanted their places.
  bool may_end_for_room = false;
  // It is bridged, over a link that had no room for what was bridged: over a plain bridge it would
  // have had none either.
  bool link_is_overfull = false;
  // The rule promises that what is acknowledged has arrived.
  bool end_to_end = false;
};

Excuses excuses_of(Network& network, std::size_t index);

// The peer of a bridged connection, or a gateway with `close: confirmed`, has ended in order, and
// forgotten it 2 MSL later, before its last ACK got through: the next repetition of the FIN is
// answered with RST (RFC 9293 section 3.6.1).
bool has_outlived_time_wait(Network& network, std::size_t index, const Outcome& left);

// No gateway gives its peer up during this run, however its faults fall together.
bool peers_are_never_given_up(const Scenario& scenario);

}  // namespace satrelay::sim
