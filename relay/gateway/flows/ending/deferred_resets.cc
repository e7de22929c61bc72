#include "relay/gateway/flows/ending/deferred_resets.h"

#include <memory>

#include "relay/gateway/flows/deferred_reset.h"

namespace satrelay::gateway {

// Whether a flow with a deferred reset must free its memory now. One of the flow's hosts has
// already reset the connection. So such flows end first if memory is short, one after the other,
// and also if slots for flows are short.
bool DeferredResets::gives_memory_back(const Flow& f, Instant now) {
  return parts_.windows.crowds_streams(f, 0) && parts_.room_pace.take(now);
}

bool DeferredResets::begin_to_peer(Flow& f, Instant now) {
  if (!f.state.has_stream()) return false;
  const auto stage = first_stage(f, parts_.session_of(f));
  if (!stage) return false;
  f.make_rare().deferred_reset = std::make_unique<DeferredReset>(
      DeferredReset{.stage = *stage, .began = now, .progressed = now, .left = 0, .look_at = now});
  f.make_rare().deferred_reset->left = left_before_reset(f, parts_.session_of(f));
  parts_.counters.add(Counter::kResetsBehindData);
  parts_.streams.feed(f, now);
  return true;
}

void DeferredResets::begin_to_host(Flow& f, Instant now) {
  f.endpoint.answer(now);
  f.make_rare().deferred_reset =
      std::make_unique<DeferredReset>(DeferredReset{.stage = DeferredReset::Stage::kToHost,
                                                    .began = now,
                                                    .progressed = now,
                                                    .left = 0,
                                                    .look_at = now});
  f.make_rare().deferred_reset->left = left_before_reset(f, parts_.session_of(f));
  if (has_queued(f) || !f.endpoint.is_synchronised())
    parts_.counters.add(Counter::kResetsBehindData);
}

void DeferredResets::go_on(std::uint32_t slot, Instant now) {
  Flow& f = parts_.flows[slot];
  DeferredReset& word = *f.make_rare().deferred_reset;
  word.look_at = now + pause_of(f, parts_.session_of(f));
  if (word.stage == DeferredReset::Stage::kToHost) {
    follow_to_host(f, word, now);
  } else {
    follow_to_peer(slot, word, now);
  }
  const bool is_over = f.endpoint.is_closed() && !f.state.has_stream();
  if (is_over) f.make_rare().deferred_reset.reset();
}

// Drops the bytes for our host, since our host has reset the connection.
void DeferredResets::follow_to_peer(std::uint32_t slot, DeferredReset& word, Instant now) {
  Flow& f = parts_.flows[slot];
  if (!f.state.has_stream()) return;
  using Delivery = StreamSide::Delivery;
  switch (parts_.streams.drop(f, now)) {
    case Delivery::kDone:
      break;
    case Delivery::kSpent:
      parts_.unfinished.add(slot);
      break;
    case Delivery::kMalformed:
      parts_.counters.add(Counter::kFlowsResetProtocol);
      return parts_.streams.reset(f, stp::ResetReason::kProtocolError, now);
    case Delivery::kReset:  // the far host has reset too: neither host needs the bytes
      return parts_.streams.reset(f, stp::ResetReason::kHostReset, now);
  }
  const std::uint64_t left = left_before_reset(f, parts_.session_of(f));
  if (left == 0 && word.stage == DeferredReset::Stage::kHeld) {
    parts_.streams.reset(f, stp::ResetReason::kHostReset, now);
  } else if (is_overdue(word, left, now)) {
    parts_.counters.add(Counter::kResetsOverdue);
    parts_.streams.reset(f, stp::ResetReason::kHostReset, now);
  } else if (gives_memory_back(f, now)) {
    end(f, now);
  }
}

// Drops the bytes that our host still sends, as the far host no longer accepts them.
void DeferredResets::follow_to_host(Flow& f, DeferredReset& word, Instant now) {
  if (f.endpoint.is_closed()) return;
  f.endpoint.consume(f.endpoint.received().readable());
  const std::uint64_t left = left_before_reset(f, parts_.session_of(f));
  if (left > 0) {
    if (is_overdue(word, left, now)) {
      parts_.counters.add(Counter::kResetsOverdue);
    } else if (gives_memory_back(f, now)) {
      parts_.counters.add(Counter::kResetsCutShort);
    } else {
      return;
    }
  }
  f.endpoint.abort(now);
}

void DeferredResets::end(Flow& f, Instant now) {
  parts_.counters.add(Counter::kResetsCutShort);
  parts_.streams.reset(f, stp::ResetReason::kHostReset, now);
  f.endpoint.consume(f.endpoint.received().readable());
  if (!f.endpoint.is_closed()) f.endpoint.abort(now);
}

void DeferredResets::cut_short(Flow& f, Instant now) {
  const DeferredReset* const word = f.rare().deferred_reset.get();
  if (word == nullptr || word->stage == DeferredReset::Stage::kToHost) return;
  if (f.state.has_stream()) parts_.counters.add(Counter::kResetsCutShort);
  parts_.streams.reset(f, stp::ResetReason::kHostReset, now);
}

}  // namespace satrelay::gateway
