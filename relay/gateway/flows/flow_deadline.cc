#include "relay/gateway/flows/flow_deadline.h"

#include "relay/gateway/addresses/lan_neighbours.h"

namespace satrelay::gateway {

bool only_owes(const Flow& f, const stp::Session& session) {
  if (!f.endpoint.peer_finished()) return false;
  return f.stream_state == StreamState::kOver ||
         (f.stream_state == StreamState::kOpen && session.received_end(f.inbound_stream()));
}

Duration quiet_limit(const Flow& f, const stp::Session& session, const config::Limits& limits) {
  const bool half_closed = f.endpoint.peer_finished() != f.closed_to_host;
  return half_closed || only_owes(f, session) ? limits.half_close_timeout : limits.idle_timeout;
}

Instant deadline(const Flow& f, const stp::Session& session, const config::Limits& limits) {
  Instant next = earlier(f.endpoint.next_timeout(), f.retry_at);
  if (const LastWord* const word = f.rare().last_word.get()) next = earlier(next, word->look_at);
  if (f.is_unheard() && !f.endpoint.is_closed()) {
    next = earlier(next, f.created + LanNeighbours::kPatience);
  }
  if (f.endpoint.state() == tcp::State::kTimeWait) return next;  // which has a limit of its own
  if (!f.trimmed) next = earlier(next, f.last_activity + kTrimAfter);
  return earlier(f.last_activity + quiet_limit(f, session, limits), next);
}

}  // namespace satrelay::gateway
