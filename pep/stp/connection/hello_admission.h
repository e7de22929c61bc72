// Decides which HELLOs of a session that encrypts are read. A HELLO costs its sender nothing, but
// costs its reader a multiplication on a curve. So a HELLO is checked before the multiplication.
// Its MAC and its number must be right, and it may have to wait for a turn. All sessions of a
// worker share the turns (turns.h, docs/stp.md section 16).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/connection/handshake.h"
#include "pep/stp/connection/held_hello.h"
#include "pep/stp/connection/hello_memory.h"
#include "pep/stp/connection/hello_turns.h"
#include "pep/stp/connection/key_exchange.h"
#include "pep/stp/connection/key_mismatch_timer.h"
#include "pep/stp/counters.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

struct ReceivedHello {
  ConstBytes packet;
  std::uint32_t number = 0;
  HelloFrame frame;
  HelloKeys keys;
};

class HelloAdmission {
 public:
  // The parts of the connection that this class uses. They must outlive it.
  struct Parts {
    Handshake& handshake;
    HelloTurns& turns;
    KeyMismatchTimer& key_mismatch;
    Counters& counters;
  };
  // `epoch` is our boot epoch.
  HelloAdmission(const Parts& parts, std::uint64_t epoch) : parts_(parts), epoch_(epoch) {}

  // Returns whether the HELLO may be read now. If not, the HELLO may be held and read later
  // (take()). `is_alive` says whether the peer is alive.
  [[nodiscard]] bool admit(const ReceivedHello& hello, KeyExchange& key_exchange, bool is_alive,
                           Instant now);
  bool holds_hello() const { return !held_.empty(); }
  // When the held HELLO may be read; never() if none is held.
  Instant next() const {
    return held_.empty() ? Instant::never() : turns_of_held().due(parts_.turns.who());
  }
  // Returns the packet of the held HELLO, if its turn has come.
  std::optional<std::vector<std::byte>> take(Instant now);
  void clear() { held_.clear(); }

 private:
  bool admit_with_mac(const ReceivedHello& hello, KeyExchange& key_exchange, Instant now);
  bool admit_without_mac(const ReceivedHello& hello, KeyExchange& key_exchange, bool is_alive,
                         Instant now);
  void hold(const ReceivedHello& hello, const HeldHello::Claim& claim);
  // The Turns object that decides when the held HELLO may be read.
  Turns& turns_of_held() const {
    HelloBudget& budget = parts_.turns.budget();
    return held_.claim().has_mac ? budget.offers : budget.without_mac;
  }

  Parts parts_;
  std::uint64_t epoch_;
  HelloMemory memory_;
  HeldHello held_;
};

}  // namespace satrelay::stp
