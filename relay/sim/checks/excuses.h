// Decides which failures of a flow are excused by the faults of a run. A failure is excused only if
// the protocols cannot prevent it.
#pragma once

#include <cstddef>

#include "relay/sim/network/network.h"

namespace satrelay::sim {

struct Excuses {
  // A RST to the client, or to the server, may be lost, since RSTs are not repeated. The gateway's
  // RST crosses only the host's cable. If the flow is bridged, the far host's RST crosses the whole
  // path.
  bool client_may_miss_reset = false;
  bool server_may_miss_reset = false;
  // A gateway that relayed the flow has forgotten it, so the hosts may be reset.
  bool caught_by_restart = false;
  // Both gateways have forgotten the flow and keep no journal, or a flow table may be too small for
  // all flows of the scenario. Then a host that sends nothing more gets no RST.
  bool forgotten = false;
  // Most of the client's SYNs were lost.
  bool syns_in_vain = false;
  // An outage was longer than the time that the gateways, and clients with Linux, wait for a
  // handshake.
  bool handshake_outlasted = false;
  // A server repeats no SYN-ACK that has a SYN cookie. If the client waits for the server to send
  // first, and the client's ACK is lost, the client waits forever (RFC 4987 section 3.6).
  bool ack_of_cookie_may_be_lost = false;
  // The far gateway may have refused the flow for lack of room.
  bool far_table_may_be_full = false;
  // A gateway may have reset the flow. If new flows need room, a gateway resets flows that make no
  // progress.
  bool may_end_for_room = false;
  // The flow is bridged, and the link could not carry all bridged frames. A plain bridge would also
  // have lost frames.
  bool link_is_overfull = false;
  // The rule promises that acknowledged bytes have arrived at the far host.
  bool end_to_end = false;
};

Excuses excuses_of(Network& network, std::size_t index);

// Whether the host with outcome `left` was reset because its peer had forgotten the connection. If
// the connection is bridged, the peer is the far host. If the rule says `close: confirmed`, the
// peer is the gateway. The peer closed in order, its last ACK was lost, and it left TIME-WAIT after
// 2 MSL. So it answers the next repeated FIN with a RST (RFC 9293 section 3.6.1).
bool has_outlived_time_wait(Network& network, std::size_t index, const Outcome& left);

// Whether no gateway can declare its peer lost in this scenario: all outages and restarts together
// are shorter than give_up_after.
bool peers_are_never_given_up(const Scenario& scenario);

}  // namespace satrelay::sim
