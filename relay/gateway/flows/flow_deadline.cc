#include "relay/gateway/flows/flow_deadline.h"

#include <algorithm>

#include "relay/gateway/addresses/lan_neighbours.h"

namespace satrelay::gateway {
namespace {

// A client that is not answered has sent its last SYN by then, and says nothing when it gives up.
constexpr Duration kLongestHandshake = Duration::seconds(127);

}  // namespace

bool only_owes(const Flow& f, const stp::Session& session) {
  if (!f.endpoint.peer_finished()) return false;
  return f.stream_state == StreamState::kOver ||
         (f.stream_state == StreamState::kOpen && session.received_end(f.inbound_stream()));
}

Duration quiet_limit(const Flow& f, const stp::Session& session, const config::Limits& limits) {
  const bool half_closed = f.endpoint.peer_finished() != f.closed_to_host;
  return half_closed || only_owes(f, session) ? limits.half_close_timeout : limits.idle_timeout;
}

bool owes_peer(const Flow& f, const stp::Session& session) {
  if (f.awaits_stream()) return true;
  if (f.stream_state != StreamState::kOpen) return false;
  return !f.established || f.endpoint.received().readable() > 0 ||
         session.unacknowledged(f.stream) > 0 || (f.finish_sent && !f.delivered);
}

namespace {

// When what waits for the peer has grown last.
Instant last_news(const Flow& f) {
  const FlowHot* hot = f.hot();
  return hot != nullptr ? hot->last_payload : f.last_activity;
}

}  // namespace

Instant still_since(const Flow& f, const stp::Session& session) {
  if (!f.established || f.is_over()) return Instant::never();
  if (f.endpoint.sends_in_vain()) return f.last_activity;
  return owes_peer(f, session) ? last_news(f) : Instant::never();
}

Instant end_of_wait(const Flow& f, const stp::Session& session, const PeerSilence& silence) {
  if (silence.since.is_never() || !owes_peer(f, session)) return Instant::never();
  const Duration patience =
      f.established ? silence.patience : std::min(silence.patience, kLongestHandshake);
  return std::max(last_news(f), silence.since) + patience;
}

Instant deadline(const Flow& f, const stp::Session& session, const config::Limits& limits,
                 const PeerSilence& silence) {
  Instant next = earlier(f.endpoint.next_timeout(), f.retry_at);
  next = earlier(next, end_of_wait(f, session, silence));
  if (f.is_unheard() && !f.endpoint.is_closed()) {
    next = earlier(next, f.created + LanNeighbours::kPatience);
  }
  if (f.endpoint.state() == tcp::State::kTimeWait) return next;  // which has a limit of its own
  if (!f.trimmed) next = earlier(next, f.last_activity + kTrimAfter);
  return earlier(f.last_activity + quiet_limit(f, session, limits), next);
}

}  // namespace satrelay::gateway
