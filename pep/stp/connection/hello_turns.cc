#include "pep/stp/connection/hello_turns.h"

namespace satrelay::stp {

HelloTurns::HelloTurns(HelloBudget* shared, const Turns::Who& who, const HandshakeBudgets& octets)
    : own_(shared == nullptr ? std::make_unique<HelloBudget>(1) : nullptr),
      budget_(own_ ? *own_ : *shared),
      who_{own_ ? 0 : who.peer, who.lane},
      octets_(octets) {}

void HelloTurns::stop_reading() {
  budget_.offers.leave(who_);
  budget_.without_mac.leave(who_);
  budget_.answers.leave(who_);
}

Instant HelloTurns::next_hello(const Peer& peer, const RateGate& gate) const {
  Instant at = peer.handshake.next_hello();
  if (at.is_never()) return at;
  const bool answer = answers(peer);
  const control::BudgetPlace& place = answer ? answer_place_ : hello_place_;
  at = later(later(at, gate.control_opens_at(kHelloRoom)),
             place.at(answer ? octets_.answers : octets_.hellos));
  return is_free(peer) ? at : in_turn(turns(), at);
}

Instant HelloTurns::next_close(const CloseSequence& close, const RateGate& gate,
                               Instant now) const {
  if (!close.due()) return Instant::never();
  const Instant at =
      later(later(now, gate.control_opens_at(kCloseRoom)), close_place_.at(octets_.closes));
  return close.repeats() ? in_turn(budget_.ours, at) : at;
}

bool HelloTurns::hello_leaves(const Peer& peer, const RateGate& gate, Instant now) {
  if (!peer.handshake.hello_due(now) || !gate.control_open(now, kHelloRoom)) return false;
  const bool answer = answers(peer);
  control::BudgetPlace& place = answer ? answer_place_ : hello_place_;
  control::Budget* octets = answer ? octets_.answers : octets_.hellos;
  const ByteCount size = gate.accounted(kHelloRoom);
  if (!place.has_come(octets, size, now) || !(is_free(peer) || take_turn(turns(), now))) {
    return false;
  }
  place.use(octets, size, now);
  return true;
}

bool HelloTurns::close_leaves(const CloseSequence& close, const RateGate& gate, Instant now) {
  if (!close.due() || !gate.control_open(now, kCloseRoom)) return false;
  const ByteCount size = gate.accounted(kCloseRoom);
  if (!close_place_.has_come(octets_.closes, size, now)) return false;
  if (close.repeats() && !take_turn(budget_.ours, now)) return false;
  close_place_.use(octets_.closes, size, now);
  return true;
}

bool HelloTurns::take_turn(Turns& turns, Instant now) {
  const bool waited = turns.waits(who_);
  if (turns.take(who_, now)) return true;
  if (!waited) ++delayed_;
  return false;
}

}  // namespace satrelay::stp
