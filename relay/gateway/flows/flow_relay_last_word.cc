// Flows of which one host has reset the connection, while what it had sent before is on its way to
// the other (last_word.h).
#include "relay/gateway/flows/flow_relay.h"
#include "relay/gateway/flows/last_word.h"

namespace satrelay::gateway {

// Nobody but these flows needs what they hold. If memory or places are short, they are the first to
// give theirs back.
bool FlowRelay::lacks_room_for_last_word(const Flow& f) const {
  return flows_.free_slots() == 0 || windows_.crowds_streams(f, 0);
}

// Our host has reset its connection. False: nothing of it is on its way, or there is no room to
// wait for that.
bool FlowRelay::begin_last_word(Flow& f, Instant now) {
  if (f.stream_state != StreamState::kOpen) return false;
  const auto stage = first_stage(f, session_of(f));
  if (!stage) return false;
  f.make_rare().last_word = std::make_unique<LastWord>(
      LastWord{.stage = *stage, .began = now, .progressed = now, .left = 0, .look_at = now});
  f.make_rare().last_word->left = left_of_last_word(f, session_of(f));
  counters_.add(Counter::kResetsBehindData);
  streams_.feed(f, now);
  return true;
}

// The far host has, and its stream is over. If our host waits for an answer to its SYN, it gets
// one: a far host that has sent bytes has accepted the connection.
void FlowRelay::owe_reset(Flow& f, Instant now) {
  f.endpoint.answer(now);
  f.make_rare().last_word = std::make_unique<LastWord>(LastWord{.stage = LastWord::Stage::kToHost,
                                                                .began = now,
                                                                .progressed = now,
                                                                .left = 0,
                                                                .look_at = now});
  f.make_rare().last_word->left = left_of_last_word(f, session_of(f));
  if (has_queued(f) || !f.endpoint.is_synchronised()) counters_.add(Counter::kResetsBehindData);
}

void FlowRelay::go_on_with_last_word(std::uint32_t slot, Instant now) {
  Flow& f = flow(slot);
  LastWord& word = *f.make_rare().last_word;
  word.look_at = now + pause_of(word, session_of(f));
  if (word.stage == LastWord::Stage::kToHost) {
    follow_to_host(f, word, now);
  } else {
    follow_to_peer(slot, word, now);
  }
  const bool is_over = f.endpoint.is_closed() && f.stream_state != StreamState::kOpen;
  if (is_over) f.make_rare().last_word.reset();
}

// Drops the bytes for our host, which is gone.
void FlowRelay::follow_to_peer(std::uint32_t slot, LastWord& word, Instant now) {
  Flow& f = flow(slot);
  if (f.stream_state != StreamState::kOpen) return;
  using Delivery = StreamSide::Delivery;
  switch (streams_.drop(f, now)) {
    case Delivery::kDone:
      break;
    case Delivery::kSpent:
      unfinished_.add(slot);
      break;
    case Delivery::kMalformed:
      return streams_.reset(f, stp::ResetReason::kProtocolError, now);
    case Delivery::kReset:  // so is the far one: nobody is left to hear a last word
      return streams_.reset(f, stp::ResetReason::kHostReset, now);
  }
  const std::uint64_t left = left_of_last_word(f, session_of(f));
  if (left == 0 && word.stage == LastWord::Stage::kHeld) {
    streams_.reset(f, stp::ResetReason::kHostReset, now);
  } else if (is_overdue(word, left, now)) {
    counters_.add(Counter::kResetsOverdue);
    streams_.reset(f, stp::ResetReason::kTimeout, now);
  } else if (lacks_room_for_last_word(f)) {
    counters_.add(Counter::kResetsCutShort);
    streams_.reset(f, stp::ResetReason::kNoResources, now);
  }
}

// Drops what our host still says: nobody hears it.
void FlowRelay::follow_to_host(Flow& f, LastWord& word, Instant now) {
  if (f.endpoint.is_closed()) return;
  f.endpoint.consume(f.endpoint.received().readable());
  const std::uint64_t left = left_of_last_word(f, session_of(f));
  if (left > 0) {
    const bool overdue = is_overdue(word, left, now);
    if (!overdue && !lacks_room_for_last_word(f)) return;
    counters_.add(overdue ? Counter::kResetsOverdue : Counter::kResetsCutShort);
  }
  f.endpoint.abort(now);
}

// A host opens the connection anew.
void FlowRelay::cut_short_last_word(Flow& f, Instant now) {
  const LastWord* const word = f.rare().last_word.get();
  if (word == nullptr || word->stage == LastWord::Stage::kToHost) return;
  if (f.stream_state == StreamState::kOpen) counters_.add(Counter::kResetsCutShort);
  streams_.reset(f, stp::ResetReason::kHostReset, now);
}

}  // namespace satrelay::gateway
