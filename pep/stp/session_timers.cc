#include "pep/stp/session_timers.h"

namespace satrelay::stp {

// Calls `visit` for each timer of the association, with the time when it is due and its action.
template <typename Visit>
void SessionTimers::visit(Visit&& visit) const {
  visit(core_.path().losses.deadline(), [](SessionTimers& s) { s.core_.recovery().run_timer(); });
  visit(core_.fec != nullptr ? demand_.repair_planner().next_timeout() : Instant::never(),
        [](SessionTimers& s) { s.demand_.repair_planner().handle_timeout(); });
  // This timer is not due before the PING of run_probe_timer() can be sent. If nothing is in
  // flight, only this PING sets the timer to a later time. Otherwise the timer would stay due.
  visit(later(core_.path().probes.next_probe(), core_.path().gate.control_opens_at()),
        [](SessionTimers& s) { s.run_probe_timer(); });
  visit(core_.connection.is_alive() ? core_.path().probes.suspect_at() : Instant::never(),
        [](SessionTimers& s) { s.suspect_peer(); });
  visit(core_.streams->memory_check(),
        [](SessionTimers& s) { s.core_.streams->check_memory(s.core_.now); });
  visit(core_.streams->life().next_linger(), [](SessionTimers& s) { s.run_linger(); });
  visit(core_.path().mtu.next_timeout(),
        [](SessionTimers& s) { s.core_.path().mtu.handle_timeout(s.core_.now); });
  visit(core_.connection.protection().next_timeout(),
        [](SessionTimers& s) { s.core_.connection.protection().expire(s.core_.now); });
}

void SessionTimers::run() {
  if (core_.connection.holds_hello())
    core_.follow(core_.connection.hear_held_hello(core_.situation()));
  if (!core_.connection.connected()) return;
  visit([this](Instant when, auto what) {
    if (core_.now >= when) what(*this);
  });
}

// Runs when the path is silent, or when no packet of the peer has arrived for a while.
void SessionTimers::run_probe_timer() {
  core_.path().requests.ask();
  if (!core_.path().probes.probe_due(core_.now)) return;
  ++core_.counters.tail_probes;
  if (core_.path().probes.on_probe(core_.now)) core_.recovery().probe_tail();
}

void SessionTimers::suspect_peer() {
  core_.connection.suspect();
  core_.streams->sending().schedule().pause(true);
  core_.peer_events.push(Event::Kind::kPeerSuspect);
}

// The linger time of a released stream counts only while both directions work. If packets of the
// peer arrive, but ours are lost, the peer cannot have received the end of the stream.
void SessionTimers::run_linger() {
  const Instant heard_since =
      core_.connection.is_alive() ? core_.connection.alive_since() : Instant::never();
  const Instant reached_since = later(heard_since, core_.path().probes.reported_since());
  core_.counters.streams_reset_out +=
      core_.streams->life().run_linger({heard_since, reached_since}, core_.now);
}

Instant SessionTimers::next() const {
  if (core_.connection.has_closed())
    return core_.connection.next_close(core_.path().gate, core_.now);
  Instant at =
      earlier(core_.connection.next_hello(core_.path().gate), core_.connection.next_held_hello());
  if (!core_.connection.connected()) return at;
  if (core_.connection.protection().is_worn_out(core_.association->ledger.next())) {
    return core_.connection.is_alive() ? earlier(at, core_.path().probes.suspect_at()) : at;
  }
  if (demand_.control_waits())
    at = earlier(at, later(core_.now, core_.path().gate.control_opens_at()));
  at = earlier(at, demand_.next());
  visit([&at](Instant when, auto /*what*/) { at = earlier(at, when); });
  return at;
}

}  // namespace satrelay::stp
