#include "relay/gateway/flow_snapshot.h"

namespace satrelay::gateway {

FlowSnapshot describe(const Flow& f, const Peer& peer, Instant now) {
  FlowSnapshot s;
  s.client = f.metadata.client;
  s.client_port = f.metadata.client_port;
  s.server = f.metadata.server;
  s.server_port = f.metadata.server_port;
  s.peer = peer.config.name;
  s.from_lan = f.origin == Origin::kLan;
  s.tcp_state = f.endpoint.state();
  s.age = now - f.created;
  s.idle = now - f.last_activity;
  s.bytes_from_lan = f.bytes_from_lan;
  s.bytes_to_lan = f.bytes_to_lan;
  s.lan_stored = f.endpoint.received().stored();
  if (f.stream_state == StreamState::kOpen) {
    s.stp_unacknowledged = peer.session.unacknowledged(f.stream);
    if (const Reassembler* stored = peer.session.received(f.stream)) {
      s.stp_stored = stored->stored();
    }
  }
  s.lan_unacknowledged = f.endpoint.unacknowledged();
  s.lan_window = f.endpoint.receive_window();
  s.host_window = f.endpoint.peer_window();
  s.lan_rtt = f.endpoint.smoothed_rtt();
  return s;
}

}  // namespace satrelay::gateway
