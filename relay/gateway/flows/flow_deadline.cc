#include "relay/gateway/flows/flow_deadline.h"

#include <algorithm>

#include "relay/gateway/addresses/lan/lan_neighbours.h"
#include "relay/gateway/flows/hosts/host_questions.h"

namespace satrelay::gateway {
namespace {

// A client that gets no answer has sent its last SYN by this time. It sends nothing when it
// abandons the attempt, so the gateway needs a time limit.
constexpr Duration kLongestHandshake = Duration::seconds(127);
// By this time a working far gateway has abandoned its attempt to reach the server (tcp::Profile),
// and has reported that.
constexpr Duration kLongestOpening = Duration::seconds(200);

}  // namespace

bool only_owes(const Flow& f, const stp::Session& session) {
  if (!f.endpoint.receiving().has_finished()) return false;
  return f.state.has_lost_stream() ||
         (f.state.has_stream() && session.streams().received_end(f.inbound_stream()));
}

bool awaits_host(const Flow& f, const stp::Session& session) {
  if (!f.state.is_established() || f.endpoint.is_closed()) return false;
  if (f.endpoint.state() == tcp::State::kTimeWait) return false;
  if (only_owes(f, session)) return true;
  const bool half_closed = f.endpoint.receiving().has_finished() != f.state.has_passed_far_end();
  return half_closed &&
         (!f.endpoint.receiving().has_finished() || f.endpoint.sending().unacknowledged() > 0);
}

bool ends_by_itself(const Flow& f) {
  return f.endpoint.state() == tcp::State::kTimeWait && !f.endpoint.receiving().holds_fin();
}

Duration quiet_limit(const Flow& f, const stp::Session& session, const config::Limits& limits) {
  return awaits_host(f, session) ? limits.half_close_timeout : limits.idle_timeout;
}

bool owes_peer(const Flow& f, const stp::Session& session) {
  if (f.awaits_stream()) return true;
  if (!f.state.has_stream()) return false;
  // Our host needs nothing more, so the flow exists only for the peer.
  if (f.endpoint.is_closed() || f.endpoint.state() == tcp::State::kTimeWait) return true;
  return !f.state.is_established() || f.endpoint.received().readable() > 0 ||
         session.streams().unacknowledged(f.stream) > 0 ||
         f.state.host_end() == FlowState::HostEnd::kInStream;
}

Instant still_since(const Flow& f, const stp::Session& session) {
  if (!f.state.is_established() || f.is_over()) return Instant::never();
  const bool host_takes_nothing = f.endpoint.sending().is_in_vain() || only_owes(f, session);
  return host_takes_nothing ? earlier(f.timers.last_activity, f.owes_since()) : f.owes_since();
}

Instant end_of_wait(const Flow& f, Duration patience) {
  const Instant end = f.owes_since() +
                      (f.state.is_established() ? patience : std::min(patience, kLongestHandshake));
  const bool awaits_server = f.origin == Origin::kLan && !f.state.is_established() &&
                             f.state.has_stream() && f.endpoint.opening().owes_syn();
  return awaits_server ? earlier(end, f.beginning.created + kLongestOpening) : end;
}

Instant deadline(const Flow& f, const stp::Session& session, const config::Limits& limits,
                 Duration patience) {
  Instant next = earlier(f.endpoint.next_timeout(), f.timers.retry_at);
  next = earlier(next, end_of_wait(f, patience));
  if (const DeferredReset* const word = f.rare().deferred_reset.get())
    next = earlier(next, word->look_at);
  next = earlier(next, end_of_question(f));
  if (f.is_unconfirmed() && !f.endpoint.is_closed()) {
    next = earlier(next, f.beginning.created + LanNeighbours::kPatience);
  }
  if (ends_by_itself(f)) return next;
  if (!f.state.is_trimmed()) next = earlier(next, f.timers.last_activity + kTrimAfter);
  return earlier(f.timers.last_activity + quiet_limit(f, session, limits), next);
}

}  // namespace satrelay::gateway
