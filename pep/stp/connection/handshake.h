// The exchange of HELLOs. It finds out which boot (start of the program) of the peer is running,
// and proves that this boot is running now (docs/stp.md section 4).
//
//   kIdle --HELLO of the peer--> kGreeted --proof that the peer knows our epoch--> kEstablished
//     ^                             |                                               |       ^
//     +--no proof in time-----------+                       HELLO of a newcomer, then proof-+
//
// The proof is a HELLO that names our epoch, or any packet of the session, as its checksum covers
// both epochs. The sender of a HELLO with another epoch is a newcomer until it gives proof, since
// any machine can send such a HELLO at any time. So a newcomer without proof does not replace an
// established peer. There is at most one newcomer: the sender of the last such HELLO. The newcomer
// is forgotten if it sends no further HELLO.
//
// In a session that encrypts, KeyExchange has already checked that the peer has written the HELLO.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/stp/wire/capabilities.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::stp {

class Handshake {
 public:
  enum class State : std::uint8_t { kIdle, kGreeted, kEstablished, kRefused };
  enum class Outcome : std::uint8_t {
    kNothing,
    kNewcomer,     // a newcomer has sent HELLO, but has not proved yet to be the peer
    kEstablished,  // this HELLO establishes the peer, and all state of another epoch is void
    kStale,        // the HELLO is from a boot of the peer that seems to have ended
    kIncompatible,
    kUnlikeSecurity,  // one end encrypts, the other does not
    // The ends have different numbers of lanes, so they would look for a flow on different lanes.
    kUnlikeLanes,
  };
  struct Config {
    std::uint64_t epoch = 0;
    bool opens_even_streams = true;
    std::uint8_t lane_count = 1;
    std::uint16_t datagram_size = 0;
    Duration interval = Duration::seconds(1);
    std::uint32_t capabilities = 0;  // the capabilities that we offer
    bool encrypts = false;
  };

  Handshake(const Config& config, Instant now) : config_(config), hello_at_(now) {}

  // Returns kNothing if a session with the sender of `hello` is possible. Otherwise, returns
  // kIncompatible, kUnlikeSecurity or kUnlikeLanes.
  Outcome find_mismatch(const HelloFrame& hello) const;
  // `peer_silent` says whether the established peer has been silent for a long time. If the clock
  // of the peer was set back, its new boot has a lower epoch. A boot with a lower epoch may only
  // replace a silent peer.
  Outcome handle_hello(const HelloFrame& hello, std::uint32_t number, bool peer_silent,
                       Instant now);
  // A packet of the newcomer's session has arrived, which proves that the newcomer is the peer.
  void establish_newcomer();
  // A packet of another session has arrived. Its sender gets a HELLO, at a limited rate.
  void answer_stranger(Instant now);
  // Asks the established peer for another HELLO. Our HELLO is sent one interval after our last
  // HELLO, or now if that time has passed.
  void ask_again(Instant now) {
    asks_ = true;
    hello_at_ = std::min(hello_at_, later(now, last_hello_ + config_.interval));
  }
  // Asks at once for another HELLO, as the peer may send HELLOs that we do not read.
  void ask_soon(Instant now) {
    asks_ = true;
    answer_stranger(now);
  }
  // CLOSE has arrived, so we send no more HELLOs, except to a newcomer.
  void stop() {
    if (!newcomer_) hello_at_ = Instant::never();
  }
  // We close, and send no more HELLOs, not even to a newcomer.
  void end() {
    newcomer_.reset();
    hello_at_ = Instant::never();
  }
  // Forgets the newcomer if it has sent neither a HELLO nor proof for a long time.
  void expire(Instant now);
  // A HELLO with a correct MAC has repeated an offer. If the HELLO has the newcomer's epoch, the
  // newcomer still waits for our answer, and is kept for longer.
  void on_repeated(std::uint64_t epoch, Instant now) {
    expire(now);
    if (newcomer() == epoch) newcomer_->until = now + config_.interval * kNewcomerIntervals;
  }

  // Whether the next HELLO is an answer to a HELLO.
  bool owes_answer() const { return echo_ != 0 || owes_peer_; }
  bool hello_due(Instant now) const { return now >= hello_at_; }
  Instant next_hello() const { return hello_at_; }
  // Returns the HELLO to send now. hello_number() is its number.
  HelloFrame make_hello(std::uint64_t lane_credit, std::uint64_t stream_credit, Instant now);
  std::uint32_t hello_number() const { return number_; }

  State state() const { return state_; }
  bool knows_peer() const { return peer_.epoch != 0; }
  // The HELLO of the most recently established peer.
  const HelloFrame& peer() const { return peer_; }
  // The epoch of the newcomer; 0 if there is none.
  std::uint64_t newcomer() const { return newcomer_ ? newcomer_->hello.epoch : 0; }
  // The capabilities that both ends have offered.
  Capabilities agreed() const { return Capabilities(config_.capabilities & peer_.capabilities); }
  // Returns the round trip from our HELLO to its answer, if an answer has just arrived; otherwise
  // zero.
  Duration take_rtt_sample() {
    const Duration sample = rtt_sample_;
    rtt_sample_ = Duration::zero();
    return sample;
  }

 private:
  struct Newcomer {
    HelloFrame hello;
    Instant until;
  };
  // Packets of other sessions, or with corrupted tags, cause at most one HELLO in this time.
  static constexpr Duration kAnswerInterval = Duration::milliseconds(50);
  // If many HELLOs arrive in the peer's name, this number is answered at once, and then one in each
  // interval. The interval is kGreetingInterval until the peer is established. Then answers are
  // less urgent, and the interval is kAnswerInterval.
  static constexpr int kAnswers = 16;
  static constexpr Duration kGreetingInterval = Duration::milliseconds(20);
  static constexpr int kQuickHellos = 3;
  // A newcomer is forgotten this number of HELLO intervals after its last HELLO. So some of its
  // HELLOs may be lost.
  static constexpr int kNewcomerIntervals = 5;

  bool must_wait(const HelloFrame& hello, bool peer_silent) const;
  void answer(std::uint32_t number, Instant now);
  void answer_peer(std::uint32_t number, Instant now);
  void note_echo(const HelloFrame& hello, Instant now);
  Config config_;
  State state_ = State::kIdle;
  HelloFrame peer_;
  std::optional<Newcomer> newcomer_;
  Instant hello_at_;
  Instant last_hello_ = Instant::from_nanoseconds(0) - Duration::seconds(3600);
  Instant last_earned_ = last_hello_;
  int answers_left_ = kAnswers;
  static constexpr std::uint32_t kRemembered = 8;
  // Send times of our last HELLOs, indexed by number modulo kRemembered.
  std::array<Instant, kRemembered> sent_at_;
  std::uint32_t number_ = 0;
  std::uint32_t echo_ = 0;
  int unanswered_ = 0;
  bool asks_ = false;
  bool owes_peer_ = false;  // the next HELLO answers the established peer instead of a newcomer
  Duration rtt_sample_;
};

}  // namespace satrelay::stp
