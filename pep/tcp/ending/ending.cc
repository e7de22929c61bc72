#include "pep/tcp/ending/ending.h"

#include "pep/tcp/segments/resets.h"

namespace satrelay::tcp {
namespace {

void enter_time_wait(Tcb& tcb, Instant now) {
  tcb.lifecycle.set_state(State::kTimeWait);
  tcb.timers().cancel_all();
  tcb.timers().arm(Timer::kClose, now + tcb.profile().time_wait);
  tcb.sender.drop();
}

// In LAST-ACK, our ACK of the peer's FIN is the last segment of the connection. That ACK may be
// lost. So TIME-WAIT follows, in which a repeated FIN is acknowledged again.
void on_fin_released(Tcb& tcb, Instant now) {
  const bool last = tcb.state() == State::kLastAck;
  tcb.last_ack_is_ours = last;
  if (last && tcb.sender.fin_acknowledged()) enter_time_wait(tcb, now);
  if (tcb.state() == State::kTimeWait) {
    tcb.timers().arm(Timer::kClose, now + tcb.profile().time_wait);
  }
}

}  // namespace

void close(Tcb& tcb) {
  if (tcb.lifecycle.is_over() || tcb.sender.close_called()) return;
  tcb.sender.close();
  if (tcb.state() == State::kEstablished) tcb.lifecycle.set_state(State::kFinWait1);
  if (tcb.state() == State::kCloseWait) tcb.lifecycle.set_state(State::kLastAck);
}

void abort(Tcb& tcb) {
  if (tcb.state() == State::kClosed) return;
  if (tcb.state() != State::kSynSent) owe_reset(tcb);
  abandon(tcb);
}

void abandon(Tcb& tcb) {
  if (tcb.state() == State::kClosed) return;
  fail(tcb, CloseReason::kAborted);
  tcb.receiver.drop();
}

void hold_acknowledgments(Tcb& tcb, std::uint64_t from, Instant now) {
  const bool held = tcb.receiver.holds_fin();
  tcb.receiver.hold_acknowledgments(from);
  if (held && !tcb.receiver.holds_fin()) on_fin_released(tcb, now);
}

void release_fin(Tcb& tcb, Instant now) {
  const bool held = tcb.receiver.holds_fin();
  tcb.receiver.release_fin();
  if (held && !tcb.receiver.holds_fin()) on_fin_released(tcb, now);
}

void fail(Tcb& tcb, CloseReason reason) {
  tcb.lifecycle.close(reason);
  tcb.timers().cancel_all();
  tcb.opening.syn_owed = tcb.opening.syn_held = false;
  tcb.sender.drop();
}

void give_up(Tcb& tcb) {
  owe_reset(tcb);
  fail(tcb, CloseReason::kTimeout);
}

void on_own_fin_acknowledged(Tcb& tcb, Instant now) {
  if (tcb.state() == State::kFinWait1) {
    tcb.lifecycle.set_state(State::kFinWait2);
    tcb.sender.drop();  // no data will be sent again: free the last block
  } else if (tcb.state() == State::kClosing) {
    enter_time_wait(tcb, now);
  } else if (tcb.state() == State::kLastAck && !tcb.receiver.holds_fin()) {
    tcb.last_ack_is_ours ? enter_time_wait(tcb, now) : fail(tcb, CloseReason::kNone);
  }
}

void on_peer_fin(Tcb& tcb, Instant now) {
  if (tcb.state() == State::kEstablished) {
    tcb.lifecycle.set_state(State::kCloseWait);
  } else if (tcb.state() == State::kFinWait1) {
    tcb.lifecycle.set_state(State::kClosing);
  } else if (tcb.state() == State::kFinWait2) {
    enter_time_wait(tcb, now);
  }
}

void arm_half_closed(Tcb& tcb, Instant now) {
  tcb.timers().arm(Timer::kClose, now + tcb.profile().half_closed);
}

void handle_close_timeout(Tcb& tcb, Instant now) {
  if (tcb.state() != State::kTimeWait) return give_up(tcb);
  if (!tcb.receiver.holds_fin()) return fail(tcb, CloseReason::kNone);
  tcb.timers().arm(Timer::kClose, now + tcb.profile().time_wait);
}

TimeWait numbers(const Tcb& tcb) {
  const Negotiation& negotiation = tcb.negotiation;
  return {.send_next = tcb.send_space.to_sequence(tcb.sender.next()),
          .receive_next = tcb.receive_space.to_sequence(tcb.receiver.next()),
          .recent_timestamp = tcb.timestamps.recent(),
          .window = static_cast<std::uint16_t>(tcb.receive_window() >> negotiation.receive_scale),
          .window_scale = negotiation.receive_scale,
          .timestamps = negotiation.timestamps};
}

std::optional<TimeWait> time_wait(const Tcb& tcb) {
  const bool over = tcb.state() == State::kTimeWait && !tcb.receiver.holds_fin();
  if (!over || tcb.reset || tcb.receiver.acks().owed_now()) return std::nullopt;
  return numbers(tcb);
}

}  // namespace satrelay::tcp
