#include "pep/tcp/questions/own_questions.h"

#include "pep/tcp/ending/ending.h"

namespace satrelay::tcp {
namespace {

bool can_ask(const Tcb& tcb) {
  return tcb.lifecycle.is_synchronised() && tcb.state() != State::kTimeWait;
}

}  // namespace

void send_keep_alive(Tcb& tcb, Instant now) {
  KeepAlive& keep_alive = tcb.questions.keep_alive();
  if (!can_ask(tcb) || keep_alive.probing()) return;
  tcb.timers().arm(Timer::kKeepAlive, now + keep_alive.start());
}

bool ask_once(Tcb& tcb) {
  if (!can_ask(tcb)) return false;
  tcb.questions.keep_alive().ask_once();
  return true;
}

void handle_keep_alive_timeout(Tcb& tcb, Instant now) {
  const Duration wait = tcb.questions.keep_alive().on_timeout();
  if (wait == Duration::zero()) return give_up(tcb);
  tcb.timers().arm(Timer::kKeepAlive, now + wait);
}

}  // namespace satrelay::tcp
