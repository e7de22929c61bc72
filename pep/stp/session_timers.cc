// The timers of the session, and the work of which each call does a part.
#include "pep/stp/session_impl.h"

namespace satrelay::stp {

void Session::Impl::go_on() {
  retired_streams.go_on(work);
  streams->go_on();
  if (!path().reports.empty()) recovery().work_off_reports();
  receiver.work_off_repairs();
}

// All timers of an association: when each is due, and what is due then.
template <typename Visit>
void Session::Impl::visit_timers(Visit&& visit) const {
  visit(path().losses.deadline(), [](Impl& s) { s.recovery().run_timer(); });
  visit(fec != nullptr ? repair_planner().next_timeout() : Instant::never(),
        [](Impl& s) { s.repair_planner().handle_timeout(); });
  // The packet that run_probe_timer() asks for must be able to leave, as it arms this timer again.
  visit(later(path().probes.next_probe(), path().gate.control_opens_at()),
        [](Impl& s) { s.run_probe_timer(); });
  visit(connection.is_alive() ? path().probes.suspect_at() : Instant::never(),
        [](Impl& s) { s.suspect_peer(); });
  visit(streams->memory_check(), [](Impl& s) { s.streams->check_memory(s.now); });
  visit(streams->life().next_linger(), [](Impl& s) { s.run_linger(); });
  visit(path().mtu.next_timeout(), [](Impl& s) { s.path().mtu.handle_timeout(s.now); });
  visit(connection.protection().next_timeout(),
        [](Impl& s) { s.connection.protection().expire(s.now); });
}

void Session::Impl::run_timers() {
  if (connection.holds_hello()) follow(connection.hear_held_hello(situation()));
  if (!connection.connected()) return;
  visit_timers([this](Instant when, auto what) {
    if (now >= when) what(*this);
  });
}

// The path is silent, or nothing was heard for a while.
void Session::Impl::run_probe_timer() {
  path().requests.ask();
  if (!path().probes.probe_due(now)) return;
  ++counters.tail_probes;
  if (path().probes.on_probe(now)) recovery().probe_tail();
}

void Session::Impl::suspect_peer() {
  connection.suspect();
  streams->sending().schedule().pause(true);
  peer_events.push(Event::Kind::kPeerSuspect);
}

// A peer that is heard may not hear us. Then it has not received the end of the stream.
void Session::Impl::run_linger() {
  const Instant heard_since = connection.is_alive() ? connection.alive_since() : Instant::never();
  const Instant reached_since = later(heard_since, path().probes.reported_since());
  counters.streams_reset_out += streams->life().run_linger({heard_since, reached_since}, now);
}

Instant Session::Impl::next_timeout() const {
  if (work_waits()) return now;
  if (connection.has_closed()) return connection.next_close(path().gate, now);
  Instant at = earlier(connection.next_hello(path().gate), connection.next_held_hello());
  if (!connection.connected()) return at;
  if (connection.protection().is_worn_out(association->ledger.next())) {
    return connection.is_alive() ? earlier(at, path().probes.suspect_at()) : at;
  }
  if (control_waits()) at = earlier(at, later(now, path().gate.control_opens_at()));
  at = earlier(at, next_departure());
  visit_timers([&at](Instant when, auto /*what*/) { at = earlier(at, when); });
  return at;
}

// When poll_packets() has something to write that waits for a clock or a pacer.
Instant Session::Impl::next_departure() const {
  Instant at = streams->due().next_confirm();
  if (association->received.next() > 0) {
    at = earlier(at, later(path().feedback.due(), path().gate.carrier_opens_at()));
  }
  if (credits_wait()) at = earlier(at, path().feedback.credits_at());
  at = earlier(later(at, path().gate.control_opens_at()), next_repair());
  if (data_waits() || mtu_probe_waits()) at = earlier(at, path().gate.opens_at());
  return at;
}

}  // namespace satrelay::stp
