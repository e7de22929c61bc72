#include "relay/gateway/flows/flow_ends.h"

namespace satrelay::gateway {

void FlowEnds::handle_end(const Flow& f, std::uint32_t peer, Instant now) {
  if (f.end == Counter::kFlowsFinished) {
    completions_.add(f.bytes_from_lan + f.bytes_to_lan, now - f.created);
  }
  if (recorder_ != nullptr) recorder_->handle_end(record_of(f, peer, now));
}

FlowRecord FlowEnds::record_of(const Flow& f, std::uint32_t peer, Instant now) const {
  FlowRecord record;
  record.id = f.id;
  const bool from_lan = f.origin == Origin::kLan;
  record.client = from_lan ? f.key.local : f.key.remote;
  record.server = from_lan ? f.key.remote : f.key.local;
  record.client_port = from_lan ? f.key.local_port : f.key.remote_port;
  record.server_port = from_lan ? f.key.remote_port : f.key.local_port;
  record.vlans = f.key.vlans;
  record.origin = f.origin;
  record.end = f.end;
  record.established = f.established;
  record.peer = peer;
  record.rule = f.rule->number;
  record.rule_name = RecordedName(f.rule->rule.name);
  if (f.traffic_class != TrafficClasses::kRelayed) {
    record.traffic_class = RecordedName(classes_[f.traffic_class].in_force.name);
  }
  record.began = f.created;
  record.ended = now;
  if (f.first_byte_us > 0) record.first_byte = Duration::microseconds(f.first_byte_us);
  record.bytes_from_lan = f.bytes_from_lan;
  record.bytes_to_lan = f.bytes_to_lan;
  record.encoded_to_peer = f.bytes_encoded;
  record.encoded_from_peer = f.bytes_decoded;
  record.retransmitted = f.rare().retransmitted;
  record.repeated = f.rare().repeated;
  return record;
}

}  // namespace satrelay::gateway
