// Which failures of a flow the faults of a run excuse. They excuse no more than the protocols leave
// open.
#pragma once

#include <cstddef>

#include "relay/sim/network/network.h"

namespace satrelay::sim {

struct Excuses {
  // A RST to this host may be lost, and RSTs are not repeated. The gateway's RST crosses only the
  // host's cable. If the flow is bridged, the far host's RST crosses the whole path.
  bool client_may_miss_reset = false;
  bool server_may_miss_reset = false;
  // A gateway that relayed the flow has forgotten it, so the hosts may be reset.
  bool caught_by_restart = false;
  // Both gateways have forgotten the flow and keep no journal, or a flow table may be too small for
  // the list of flows. A host that sends nothing more then gets no RST.
  bool forgotten = false;
  // Most of the client's SYNs were lost.
  bool syns_in_vain = false;
  // An outage lasted longer than the gateways, and Linux's clients, wait for a handshake.
  bool handshake_outlasted = false;
  // No SYN-ACK is repeated after a SYN cookie. If the client waits for the server to send first,
  // and the client's ACK is lost, the client waits for ever (RFC 4987 section 3.6).
  bool ack_of_cookie_may_be_lost = false;
  // The far gateway may have refused the flow for lack of room.
  bool far_table_may_be_full = false;
  // A gateway may have ended the flow: it ends flows that stand still if others need their places.
  bool may_end_for_room = false;
  // The flow is bridged, over a link without room for all bridged frames. A plain bridge would have
  // lost them too.
  bool link_is_overfull = false;
  // The rule promises that acknowledged bytes have arrived at the far host.
  bool end_to_end = false;
};

Excuses excuses_of(Network& network, std::size_t index);

// Whether the host with outcome `left` was reset since its peer had forgotten the connection. The
// peer of a bridged connection, or a gateway with `close: confirmed`, ended in order. It forgot the
// connection 2 MSL later, before its last ACK got through. It answers the next repeated FIN with
// RST (RFC 9293 section 3.6.1).
bool has_outlived_time_wait(Network& network, std::size_t index, const Outcome& left);

// Whether no gateway gives up its peer during this run, however the faults coincide.
bool peers_are_never_given_up(const Scenario& scenario);

}  // namespace satrelay::sim
