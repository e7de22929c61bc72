#include "relay/gateway/flows/ending/end_reports.h"

#include <optional>

namespace satrelay::gateway {

void EndReports::tell(FlowRecorder* recorder) {
  ends_.tell(recorder);
  if (recorder == nullptr) return;
  for (const auto& lane : parts_.lanes) lane->control_messages.ask_for_reports();
}

bool EndReports::awaits_report(const Flow& f) const {
  return ends_.is_told() && f.stream != Flow::kNoStream && !f.rare().far &&
         parts_.lane_of(f).control_messages.awaits_reports();
}

FlowEnds::StreamOf EndReports::stream_of(const Flow& f) const {
  return {f.lane, parts_.lane_of(f).epoch_log.count(), f.stream};
}

void EndReports::expect(std::uint32_t slot, Instant now) {
  Flow& f = parts_.flows[slot];
  if (!awaits_report(f) || f.rare().far_awaited) return;
  f.make_rare().far_awaited = true;
  ends_.expect_report(stream_of(f), slot, now);
}

void EndReports::handle_end(const Flow& f, Instant now) {
  Lane& lane = parts_.lane_of(f);
  if (f.stream != Flow::kNoStream && lane.control_messages.report({f.stream, f.rare().lan}, now)) {
    lane.bell.ring();
  }
  const auto awaited = awaits_report(f) ? std::optional(stream_of(f)) : std::nullopt;
  ends_.handle_end(f, lane.address.peer, awaited, now);
}

void EndReports::handle_report(LaneId id, const LanReport& report) {
  if (!ends_.is_told()) return;  // without a recorder no flow needs the report
  const Lane& lane = *parts_.lanes[id];
  const auto number = lane.session.streams().context(report.stream);
  const bool is_flows = number && StreamContext(*number).kind() == StreamContext::Kind::kFlow;
  std::optional<std::uint32_t> slot;
  if (is_flows) {
    slot = StreamContext(*number).slot();
  } else {
    slot = ends_.handle_report({id, lane.epoch_log.count(), report.stream}, report.figures);
  }
  if (!slot || !parts_.flows.contains(*slot)) return;
  Flow& f = parts_.flows[*slot];
  const bool is_its = f.stream == report.stream || f.inbound() == report.stream;
  if (f.lane == id && is_its && !parts_.is_behind(f)) f.make_rare().far = report.figures;
}

}  // namespace satrelay::gateway
