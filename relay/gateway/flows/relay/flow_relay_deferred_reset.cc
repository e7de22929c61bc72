// Flows with a deferred reset: one host has reset the connection, while bytes that it sent before
// are in flight to the other host (deferred_reset.h).
#include "relay/gateway/flows/deferred_reset.h"
#include "relay/gateway/flows/relay/flow_relay.h"

namespace satrelay::gateway {

// Whether a flow with a deferred reset gives its memory back now. No open connection needs that
// memory, so these flows are the first to give theirs back if it is short, one after the other. If
// places for flows are short, make_room() begins with them.
bool FlowRelay::gives_memory_back(const Flow& f, Instant now) {
  if (!windows_.crowds_streams(f, 0) || now < next_search_) return false;
  next_search_ = now + kBetweenSearches;
  return true;
}

// Our host has reset its connection. False: none of its bytes are in flight.
bool FlowRelay::begin_deferred_reset(Flow& f, Instant now) {
  if (!f.state.has_stream()) return false;
  const auto stage = first_stage(f, session_of(f));
  if (!stage) return false;
  f.make_rare().deferred_reset = std::make_unique<DeferredReset>(
      DeferredReset{.stage = *stage, .began = now, .progressed = now, .left = 0, .look_at = now});
  f.make_rare().deferred_reset->left = left_before_reset(f, session_of(f));
  counters_.add(Counter::kResetsBehindData);
  streams_.feed(f, now);
  return true;
}

// The far host has reset its connection, and the stream is over. If our host still waits for an
// answer to its SYN, it gets one: a far host that has sent bytes has accepted the connection.
void FlowRelay::owe_reset(Flow& f, Instant now) {
  f.endpoint.answer(now);
  f.make_rare().deferred_reset =
      std::make_unique<DeferredReset>(DeferredReset{.stage = DeferredReset::Stage::kToHost,
                                                    .began = now,
                                                    .progressed = now,
                                                    .left = 0,
                                                    .look_at = now});
  f.make_rare().deferred_reset->left = left_before_reset(f, session_of(f));
  if (has_queued(f) || !f.endpoint.is_synchronised()) counters_.add(Counter::kResetsBehindData);
}

void FlowRelay::continue_deferred_reset(std::uint32_t slot, Instant now) {
  Flow& f = flow(slot);
  DeferredReset& word = *f.make_rare().deferred_reset;
  word.look_at = now + pause_of(f, session_of(f));
  if (word.stage == DeferredReset::Stage::kToHost) {
    follow_to_host(f, word, now);
  } else {
    follow_to_peer(slot, word, now);
  }
  const bool is_over = f.endpoint.is_closed() && !f.state.has_stream();
  if (is_over) f.make_rare().deferred_reset.reset();
}

// Drops the bytes for our host, which has closed the connection.
void FlowRelay::follow_to_peer(std::uint32_t slot, DeferredReset& word, Instant now) {
  Flow& f = flow(slot);
  if (!f.state.has_stream()) return;
  using Delivery = StreamSide::Delivery;
  switch (streams_.drop(f, now)) {
    case Delivery::kDone:
      break;
    case Delivery::kSpent:
      unfinished_.add(slot);
      break;
    case Delivery::kMalformed:
      counters_.add(Counter::kFlowsResetProtocol);
      return streams_.reset(f, stp::ResetReason::kProtocolError, now);
    case Delivery::kReset:  // the far host has reset too: neither host needs the bytes
      return streams_.reset(f, stp::ResetReason::kHostReset, now);
  }
  const std::uint64_t left = left_before_reset(f, session_of(f));
  if (left == 0 && word.stage == DeferredReset::Stage::kHeld) {
    streams_.reset(f, stp::ResetReason::kHostReset, now);
  } else if (is_overdue(word, left, now)) {
    counters_.add(Counter::kResetsOverdue);
    streams_.reset(f, stp::ResetReason::kHostReset, now);
  } else if (gives_memory_back(f, now)) {
    end_deferred_reset(f, now);
  }
}

// Drops the bytes that our host still sends, as the far host no longer takes them.
void FlowRelay::follow_to_host(Flow& f, DeferredReset& word, Instant now) {
  if (f.endpoint.is_closed()) return;
  f.endpoint.consume(f.endpoint.received().readable());
  const std::uint64_t left = left_before_reset(f, session_of(f));
  if (left > 0) {
    if (is_overdue(word, left, now)) {
      counters_.add(Counter::kResetsOverdue);
    } else if (gives_memory_back(f, now)) {
      counters_.add(Counter::kResetsCutShort);
    } else {
      return;
    }
  }
  f.endpoint.abort(now);
}

// Ends a deferred reset early, as other flows need the room.
void FlowRelay::end_deferred_reset(Flow& f, Instant now) {
  counters_.add(Counter::kResetsCutShort);
  streams_.reset(f, stp::ResetReason::kHostReset, now);
  f.endpoint.consume(f.endpoint.received().readable());
  if (!f.endpoint.is_closed()) f.endpoint.abort(now);
}

// A host opens the connection anew.
void FlowRelay::cut_short_deferred_reset(Flow& f, Instant now) {
  const DeferredReset* const word = f.rare().deferred_reset.get();
  if (word == nullptr || word->stage == DeferredReset::Stage::kToHost) return;
  if (f.state.has_stream()) counters_.add(Counter::kResetsCutShort);
  streams_.reset(f, stp::ResetReason::kHostReset, now);
}

}  // namespace satrelay::gateway
