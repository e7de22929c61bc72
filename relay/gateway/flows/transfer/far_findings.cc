#include "relay/gateway/flows/transfer/far_findings.h"

namespace satrelay::gateway {

void FarFindings::note_place(const Flow& f, Instant now) {
  if (far_stations_.has_just_heard(f.lan.to_host, now) || f.is_unconfirmed()) return;
  if (far_stations_.hear(parts_.common.stations, Side::kWan, f.lan.to_host, now)) {
    parts_.counters.add(Counter::kStationsOnBothSides);
  }
}

void FarFindings::note_marks(const Flow& f, Instant now) {
  const bool is_server = f.origin == Origin::kLan;
  parts_.common.far_marks.note(f.key.remote, is_server ? f.key.remote_port : FarMarks::kNoPort,
                               f.marks.far, now);
}

void FarFindings::note_answer(const Flow& f, Instant now) {
  if (f.origin != Origin::kLan) return;
  parts_.common.far_services.note(f.key, FarServices::Outcome::kAccepted, now);
  parts_.common.far_families.note_answer(parts_.peer_of(f.lane), f.key.remote, now);
  parts_.common.peer_refusals.note_accepted(parts_.peer_of(f.lane), f.key.local, now);
}

void FarFindings::note_reset(const Flow& f, stp::ResetReason reason, const stp::Event& event,
                             Instant now) {
  note_refusal(f, reason, event, now);
  note_refusal_of_peer(f, reason, now);
}

// A RST shows that servers of this IP version can be reached, and so does an ICMP error that the
// server itself has sent. Silence, or an error from another sender, suggests the opposite.
void FarFindings::note_refusal(const Flow& f, stp::ResetReason reason, const stp::Event& event,
                               Instant now) {
  if (reason == stp::ResetReason::kUnreachable) {
    using Silence = SymmetricPaths::Silence;
    const bool is_answered_elsewhere = f.endpoint.questions().stray_answers() > 0;
    parts_.common.symmetric_paths.note_silence(
        f.key, is_answered_elsewhere ? Silence::kElsewhere : Silence::kUnexplained, now);
  }
  const bool refused = reason == stp::ResetReason::kRefused;
  const bool silent =
      reason == stp::ResetReason::kUnreachable || reason == stp::ResetReason::kNoRoute;
  if (f.origin != Origin::kLan || f.bytes.to_lan > 0 || (!refused && !silent)) return;
  if (parts_.common.far_services.note(f.key, FarServices::Outcome::kRefused, now)) {
    parts_.counters.add(Counter::kServicesRefusing);
  }
  FarFamilies& families = parts_.common.far_families;
  const FarGatewayId peer = parts_.peer_of(f.lane);
  const bool is_answered =
      event.reason == stp::ResetReason::kIcmp ? event.icmp.sender == f.key.remote : refused;
  if (is_answered) {
    families.note_answer(peer, f.key.remote, now);
  } else if (families.note_silence(peer, f.key.remote, now)) {
    parts_.counters.add(Counter::kFamiliesSilent);
  }
}

void FarFindings::note_refusal_of_peer(const Flow& f, stp::ResetReason reason, Instant now) {
  if (f.origin != Origin::kLan || f.bytes.to_lan > 0) return;
  if (reason == stp::ResetReason::kPolicy) {
    parts_.common.peer_refusals.note_client(parts_.peer_of(f.lane), f.key.local, now);
  } else if (reason == stp::ResetReason::kNoResources) {
    parts_.common.peer_refusals.note_full(parts_.peer_of(f.lane), f.key.remote, now);
  }
}

}  // namespace satrelay::gateway
