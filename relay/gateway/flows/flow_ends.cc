#include "relay/gateway/flows/flow_ends.h"

namespace satrelay::gateway {

namespace {

// Maximum number of records that one call passes on without the far gateway's report, because this
// report is overdue.
constexpr int kRecordsPerCall = 64;

}  // namespace

void FlowEnds::tell(FlowRecorder* recorder) {
  recorder_ = recorder;
  if (recorder == nullptr) {
    awaited_.reset();
  } else if (!awaited_) {
    awaited_ = std::make_unique<AwaitedReports>(secret_);
  }
}

void FlowEnds::expect_report(const StreamOf& of, std::uint32_t slot, Instant now) {
  tell(awaited_->expect(of, slot, now));
}

void FlowEnds::handle_end(const Flow& f, FarGatewayId peer, const std::optional<StreamOf>& awaited,
                          Instant now) {
  if (f.state.reason() == Counter::kFlowsFinished) {
    completions_.add(f.bytes.from_lan + f.bytes.to_lan, now - f.beginning.created);
  }
  if (recorder_ == nullptr) return;
  const FlowRecord record = record_of(f, peer, now);
  if (awaited && !record.far) {
    tell(awaited_->keep(*awaited, record, now));
  } else {
    recorder_->handle_end(record);
  }
}

std::optional<std::uint32_t> FlowEnds::handle_report(const StreamOf& of,
                                                     const LanFigures& figures) {
  if (!awaited_) return std::nullopt;
  AwaitedReports::Found found = awaited_->take(of);
  if (found.record) found.record->far = figures;
  tell(found.record);
  return found.slot;
}

void FlowEnds::handle_timeout(Instant now) {
  if (!awaited_) return;
  for (int i = 0; i < kRecordsPerCall; ++i) {
    const AwaitedReports::Expired expired = awaited_->take_expired(now);
    tell(expired.record);
    if (!expired.more) return;
  }
}

void FlowEnds::shut_down() {
  if (!awaited_) return;
  while (const auto record = awaited_->take_any()) tell(record);
}

FlowRecord FlowEnds::record_of(const Flow& f, FarGatewayId peer, Instant now) const {
  FlowRecord record;
  record.id = f.beginning.id;
  const bool from_lan = f.origin == Origin::kLan;
  record.client = from_lan ? f.key.local : f.key.remote;
  record.server = from_lan ? f.key.remote : f.key.local;
  record.client_port = from_lan ? f.key.local_port : f.key.remote_port;
  record.server_port = from_lan ? f.key.remote_port : f.key.local_port;
  record.vlans = f.key.vlans;
  record.origin = f.origin;
  record.end = f.state.reason();
  record.established = f.state.is_established();
  record.peer = peer;
  record.rule = f.rule->number;
  record.rule_name = RecordedName(f.rule->rule.name);
  if (f.traffic_class != TrafficClasses::kRelayed) {
    record.traffic_class = RecordedName(classes_[f.traffic_class].in_force.name);
  }
  record.began = f.beginning.created;
  record.ended = now;
  if (f.beginning.first_byte_us > 0)
    record.first_byte = Duration::microseconds(f.beginning.first_byte_us);
  record.bytes_from_lan = f.bytes.from_lan;
  record.bytes_to_lan = f.bytes.to_lan;
  record.encoded_to_peer = f.bytes.encoded;
  record.encoded_from_peer = f.bytes.decoded;
  record.lan = f.rare().lan;
  record.far = f.rare().far;
  return record;
}

}  // namespace satrelay::gateway
