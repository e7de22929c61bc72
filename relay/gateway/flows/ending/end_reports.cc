#include "relay/gateway/flows/ending/end_reports.h"

#include <optional>

namespace satrelay::gateway {

void EndReports::tell(FlowRecorder* recorder) {
  ends_.tell(recorder);
  if (recorder == nullptr) return;
  for (const auto& peer : parts_.peers) peer->control_messages.ask_for_reports();
}

bool EndReports::awaits_report(const Flow& f) const {
  return ends_.is_told() && f.stream != Flow::kNoStream && !f.rare().far &&
         parts_.peer_of(f).control_messages.awaits_reports();
}

FlowEnds::StreamOf EndReports::stream_of(const Flow& f) const {
  return {f.peer, parts_.peer_of(f).epoch_log.count(), f.stream};
}

void EndReports::expect(std::uint32_t slot, Instant now) {
  Flow& f = parts_.flows[slot];
  if (!awaits_report(f) || f.rare().far_awaited) return;
  f.make_rare().far_awaited = true;
  ends_.expect_report(stream_of(f), slot, now);
}

void EndReports::handle_end(const Flow& f, Instant now) {
  Peer& peer = parts_.peer_of(f);
  if (f.stream != Flow::kNoStream && peer.control_messages.report({f.stream, f.rare().lan}, now)) {
    peer.bell.ring();
  }
  const auto awaited = awaits_report(f) ? std::optional(stream_of(f)) : std::nullopt;
  ends_.handle_end(f, static_cast<std::uint32_t>(peer.lane.peer), awaited, now);
}

void EndReports::handle_report(std::size_t session, const LanReport& report) {
  if (!ends_.is_told()) return;  // without a recorder no flow needs the report
  const Peer& peer = *parts_.peers[session];
  const auto number = peer.session.context(report.stream);
  const bool is_flows = number && StreamContext(*number).kind() == StreamContext::Kind::kFlow;
  std::optional<std::uint32_t> slot;
  if (is_flows) {
    slot = StreamContext(*number).index();
  } else {
    slot = ends_.handle_report(
        {static_cast<std::uint32_t>(session), peer.epoch_log.count(), report.stream},
        report.figures);
  }
  if (!slot || !parts_.flows.contains(*slot)) return;
  Flow& f = parts_.flows[*slot];
  const bool is_its = f.stream == report.stream || f.inbound() == report.stream;
  if (f.peer == session && is_its && !parts_.is_behind(f)) f.make_rare().far = report.figures;
}

}  // namespace satrelay::gateway
