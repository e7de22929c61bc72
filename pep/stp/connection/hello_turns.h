// Decides when our HELLOs and CLOSEs are sent. Each must wait for the pacer of the carrier, for the
// carrier's budget for such packets, and usually for a turn. The sessions of a worker share the
// turns (turns.h, docs/stp.md section 16).
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
  // If `shared` is nullptr, the session has its own budget. Otherwise, `shared` must outlive this
  // object. `who` identifies the session in `shared`. The budgets in `octets` must outlive this
  // object.
  HelloTurns(HelloBudget* shared, const Turns::Who& who, const HandshakeBudgets& octets);

  // The budget that limits HELLOs, and the identity of this session in that budget.
  HelloBudget& budget() const { return budget_; }
  const Turns::Who& who() const { return who_; }

  // A HELLO is read, and has used a turn.
  void on_turn() { answers_acceptance_ = false; }
  // A HELLO is read without a turn, since it accepts our offer.
  void on_acceptance() { answers_acceptance_ = !owes_answer_ || answers_acceptance_; }
  // An authentic HELLO with keys must be answered.
  void owe_answer() { owes_answer_ = true; }
  void on_hello_sent() { owes_answer_ = answers_acceptance_ = false; }
  // The session is closed, and reads no more HELLOs.
  void stop_reading();

  // State on which the sending of a HELLO depends. HELLOs that answer the peer, or go to an alive
  // peer, use a separate budget (HandshakeBudgets::answers). So they do not wait for HELLOs to
  // peers that may not exist.
  struct Peer {
    const Handshake& handshake;
    bool is_alive = false;
  };
  // Whether the next HELLO may be sent now. If the result is true, the turn and the bytes of the
  // budget are used up.
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
  // Whether the next HELLO needs no turn, because it is the first of the session, or because a turn
  // was used to read the HELLO that it answers. A HELLO that accepts our offer is read without a
  // turn, so the answer needs one. Otherwise a holder of the secret could accept the offer in each
  // answer, without end.
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
