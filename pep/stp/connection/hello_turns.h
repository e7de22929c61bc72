// Decides when our HELLOs and CLOSEs are sent. Each needs an open carrier, a place in the carrier's
// budget for such packets, and usually a turn. The sessions of a worker share the turns
// (docs/stp.md section 16).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/time.h"
#include "pep/control/budget.h"
#include "pep/stp/connection/close_sequence.h"
#include "pep/stp/connection/handshake.h"
#include "pep/stp/connection/handshake_budgets.h"
#include "pep/stp/connection/hello_budget.h"
#include "pep/stp/connection/turns.h"
#include "pep/stp/path/rate_gate.h"

namespace satrelay::stp {

class HelloTurns {
 public:
  // `shared` must outlive this object. If it is nullptr, the session has its own budget. `who`
  // identifies the session in `shared`. The budgets in `octets` must outlive this object.
  HelloTurns(HelloBudget* shared, const Turns::Who& who, const HandshakeBudgets& octets);

  // The budget that limits HELLOs, and the identity of this session in that budget.
  HelloBudget& budget() const { return budget_; }
  const Turns::Who& who() const { return who_; }

  // A HELLO is read in its turn.
  void on_turn() { answers_acceptance_ = false; }
  // A HELLO is read without a turn, since it accepts our offer.
  void on_acceptance() { answers_acceptance_ = !owes_answer_ || answers_acceptance_; }
  // An authentic HELLO with keys must be answered.
  void owe_answer() { owes_answer_ = true; }
  void on_hello_sent() { owes_answer_ = answers_acceptance_ = false; }
  // The session is closed, and reads no more HELLOs.
  void stop_reading();

  // State on which the sending of a HELLO depends. A HELLO that answers the peer, or goes to an
  // alive peer, does not wait behind HELLOs that perhaps no peer receives.
  struct Peer {
    const Handshake& handshake;
    bool is_alive = false;
  };
  // Whether the next HELLO may be sent now. If so, its turn and its place in the budget are used.
  [[nodiscard]] bool hello_leaves(const Peer& peer, const RateGate& gate, Instant now);
  Instant next_hello(const Peer& peer, const RateGate& gate) const;
  [[nodiscard]] bool close_leaves(const CloseSequence& close, const RateGate& gate, Instant now);
  Instant next_close(const CloseSequence& close, const RateGate& gate, Instant now) const;

  // Number of HELLOs and CLOSEs that had to wait.
  std::uint64_t delayed() const { return delayed_; }

 private:
  // Upper limits for the UDP payload of a HELLO and of a CLOSE, in bytes.
  static constexpr std::size_t kHelloRoom = 352, kCloseRoom = 64;

  bool answers(const Peer& peer) const {
    return peer.is_alive || owes_answer_ || peer.handshake.owes_answer();
  }
  // Whether the next HELLO needs no turn, because it is the first of the session, or answers a
  // HELLO that had its turn. The answer to an acceptance needs a turn. Otherwise a holder of the
  // secret could accept the offer in each answer, without end.
  bool is_free(const Peer& peer) const {
    return peer.handshake.hello_number() == 0 || (owes_answer_ && !answers_acceptance_);
  }
  Turns& turns() { return owes_answer_ ? budget_.answers : budget_.ours; }
  const Turns& turns() const { return owes_answer_ ? budget_.answers : budget_.ours; }
  bool take_turn(Turns& turns, Instant now);
  // The time `at`, or later if our turn comes later.
  Instant in_turn(const Turns& turns, Instant at) const {
    return turns.waits(who_) ? later(at, turns.due(who_)) : at;
  }

  std::unique_ptr<HelloBudget> own_;  // only if the session shares no budget
  HelloBudget& budget_;
  Turns::Who who_;
  HandshakeBudgets octets_;
  control::BudgetPlace hello_place_, answer_place_, close_place_;
  bool owes_answer_ = false;
  bool answers_acceptance_ = false;  // the HELLO that must be answered was read without a turn
  std::uint64_t delayed_ = 0;
};

}  // namespace satrelay::stp
