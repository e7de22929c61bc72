#include "relay/gateway/flows/transfer/flow_transfer.h"

#include "relay/gateway/flows/bytes/urgent.h"
#include "relay/gateway/flows/flow_modes.h"
#include "relay/gateway/flows/hosts/host_questions.h"

namespace satrelay::gateway {
namespace {

// Whether both hosts have sent something through the gateways. A client counts only when its
// handshake is complete, as its SYN may be forged.
bool has_heard_both_hosts(const Flow& f) { return f.state.is_established() && f.bytes.to_lan > 0; }

}  // namespace

void FlowTransfer::advance(std::uint32_t slot, Instant now) {
  parts_.work.add();
  Flow& f = parts_.flows[slot];
  const bool had_heard_both = has_heard_both_hosts(f);
  if (!f.state.is_established() && f.endpoint.is_synchronised()) complete_handshake(f);
  // If the peer may have restarted, the flow waits until the session knows whether it has.
  if (f.awaits_stream() && !parts_.session_of(f).doubts_peer()) {
    open_stream(slot, now);
    if (f.state.has_stream()) parts_.counters.add(Counter::kFlowsEstablished);
  }
  if (f.state.has_stream()) parts_.streams.feed(f, now);
  if (f.state.has_stream()) deliver(slot, f, now);
  if (!had_heard_both && has_heard_both_hosts(f))
    parts_.common.symmetric_paths.note_answer(f.key, now);
  if (f.beginning.first_byte_us == 0) f.note_first_byte(now);
  if (f.rare().questions && go_on_with_questions(f, parts_.session_of(f), parts_.counters, now))
      [[unlikely]] {
    hosts_.seek_host(f, now);
  }
  if (f.state.has_stream()) confirm(f, parts_.session_of(f), now);
  if (f.endpoint.is_closed() && f.state.far_end() != FlowState::FarEnd::kClosed)
    ending_.handle_closed_endpoint(f, now);
  if (f.rare().deferred_reset) [[unlikely]]
    resets_.go_on(slot, now);
  if (f.state.has_stream()) parts_.streams.release_if_done(f, now);
  if (f.state.has_lost_stream()) reports_.expect(slot, now);
  parts_.quotas.note_stored(f);
  // Usually only the timer must be set, which settle() does. But if the stream is over, settle()
  // may remove the flow, and callers of this function still use the flow. So a flow without a
  // stream is queued, and settle() is called for it when it has its turn in the ring.
  if (!f.state.has_stream() || f.endpoint.may_have_segment()) {
    parts_.queue(slot);
  } else if (!parts_.flows.ring().has(slot)) {
    settle(slot, now);
  }
}

void FlowTransfer::complete_handshake(Flow& f) {
  if (f.is_half_open()) parts_.quotas.count_answered(f, parts_.peer_of(f.lane));
  parts_.flows.complete_handshake(f);
  if (f.origin == Origin::kLan && f.state.has_stream()) {
    parts_.counters.add(Counter::kFlowsEstablished);
  }
}

void FlowTransfer::deliver(std::uint32_t slot, Flow& f, Instant now) {
  const std::uint64_t before = f.bytes.to_lan;
  const PathMarks marks = f.marks.far;
  const StreamSide::Delivery delivery = parts_.streams.deliver(f, parts_.windows, now);
  if (f.rare().far_urgent.mark > f.bytes.to_lan) show_far_urgent(f);
  const bool is_first = before == 0 && f.bytes.to_lan > 0;
  if (is_first) findings_.note_answer(f, now);
  if (is_first || f.marks.far != marks) findings_.note_marks(f, now);
  if (delivery == StreamSide::Delivery::kSpent) parts_.unfinished.add(slot);
  if (delivery == StreamSide::Delivery::kReset) {
    parts_.streams.reset(f, stp::ResetReason::kNone, now);
    ending_.count(f, Counter::kFlowsResetByPeer);
    resets_.begin_to_host(f, now);
  }
  if (delivery == StreamSide::Delivery::kMalformed) {
    parts_.streams.reset(f, stp::ResetReason::kProtocolError, now);
    ending_.count(f, Counter::kFlowsResetProtocol);
    f.endpoint.abort(now);
  }
}

void FlowTransfer::open_stream(std::uint32_t slot, Instant now) {
  Flow& f = parts_.flows[slot];
  const StreamSide::Opening opening = parts_.streams.open(slot, f, now);
  if (opening == StreamSide::Opening::kOpen || opening == StreamSide::Opening::kLater) return;
  // The host must not go on as if it were connected.
  const bool gone = opening == StreamSide::Opening::kPeerGone;
  ending_.count(f, gone ? Counter::kFlowsResetPeerClosed : Counter::kFlowsResetNoResources);
  f.state.end_stream();
  ending_.abort_or_abandon(f, gone ? stp::ResetReason::kShutdown : stp::ResetReason::kNoResources,
                           now);
}

void FlowTransfer::settle(std::uint32_t slot, Instant now) {
  if (ending_.remove_if_over(slot, now)) return;
  note_owing(parts_.flows[slot], now);
  arm(slot);
}

void FlowTransfer::trim(Flow& f) {
  f.state.note_trimmed();
  f.cool();
  f.endpoint.memory().trim();
  if (!f.state.has_stream()) return;
  parts_.session_of(f).streams().trim(f.stream);
  if (f.inbound()) parts_.session_of(f).streams().trim(*f.inbound());
}

}  // namespace satrelay::gateway
