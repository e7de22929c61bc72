#include "relay/gateway/flows/flow_snapshot.h"

#include "relay/gateway/flows/flow_wait.h"

namespace satrelay::gateway {

FlowSnapshot describe(const Flow& f, const Lane& lane, Instant now) {
  FlowSnapshot s;
  s.id = f.beginning.id;
  s.from_lan = f.origin == Origin::kLan;
  s.client = s.from_lan ? f.key.local : f.key.remote;
  s.client_port = s.from_lan ? f.key.local_port : f.key.remote_port;
  s.server = s.from_lan ? f.key.remote : f.key.local;
  s.server_port = s.from_lan ? f.key.remote_port : f.key.local_port;
  s.peer = lane.peer.config.name;
  s.tcp_state = f.endpoint.state();
  s.age = now - f.beginning.created;
  s.idle = now - f.timers.last_activity;
  s.bytes_from_lan = f.bytes.from_lan;
  s.bytes_to_lan = f.bytes.to_lan;
  s.lan_stored = f.endpoint.received().stored();
  if (f.state.has_stream()) {
    s.stp_unacknowledged = lane.session.streams().unacknowledged(f.stream);
    s.stp_unsent = lane.session.streams().unsent(f.stream);
    s.stp_credit = lane.session.streams().credit(f.stream);
    if (const Reassembler* stored = lane.session.streams().received(f.inbound_stream())) {
      s.stp_stored = stored->stored();
      s.stp_in_order = stored->readable();
    }
  }
  const tcp::SendingView to_host = f.endpoint.sending();
  s.lan_unacknowledged = to_host.unacknowledged();
  s.lan_window = f.endpoint.receiving().window();
  s.host_window = to_host.peer_window();
  if (to_host.smoothed_rtt() > Duration::zero()) s.lan_rtt = to_host.smoothed_rtt();
  s.lan_congestion_window = to_host.congestion_window();
  s.lan_segment_size = to_host.segment_size();
  s.bytes_encoded = f.bytes.encoded;
  s.path_rtt = lane.session.path().measured_rtt();
  if (lane.session.path().knows_loss()) s.path_loss_ratio = lane.session.path().loss_ratio();
  s.path_rate = lane.session.path().send_rate();
  s.rule = f.rule->number;
  s.rule_name = f.rule->rule.name;
  s.compress = f.rule->rule.compress;
  s.modes = f.modes;
  s.traffic_class = f.class_name();
  const SharedDictionary& dictionary = lane.dictionaries.of(f.traffic_class);
  if (dictionary.levels != nullptr && s.compress != config::Compress::kOff) {
    s.dictionary = dictionary.levels->dictionary()->fingerprint();
  }
  s.wait_towards_peer = wait_towards_peer(f, lane);
  s.wait_towards_host = wait_towards_host(f, lane);
  return s;
}

}  // namespace satrelay::gateway
