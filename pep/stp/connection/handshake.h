// HELLO: finds out who the peer is and whether it still is who it was (docs/stp.md section 4).
//
//   kIdle --HELLO of the peer--> kGreeted --proof that the peer knows our epoch--> kEstablished
//     ^                             |                                               |       ^
//     +--no proof in time-----------+                       HELLO of a newcomer, then proof-+
//
// The proof is a HELLO that names our epoch, or any packet of the session, whose checksum covers
// both epochs. Who greets us is a newcomer until there is proof of it: anybody can have sent its
// HELLO, at any time. So it takes nobody's place, there is one at a time, the last that was heard,
// and it is soon forgotten.
// Of a session that encrypts, KeyExchange has seen to it that the peer has said what is read here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::stp {

class Handshake {
 public:
  enum class State : std::uint8_t { kIdle, kGreeted, kEstablished, kRefused };
  enum class Outcome : std::uint8_t {
    kNothing,
    kNewcomer,     // greets us, and has yet to prove that it is there
    kEstablished,  // now, by this HELLO: what there was with another epoch is void
    kStale,        // from a session that is over, as far as can be told
    kIncompatible,
    kUnlikeSecurity,  // one end encrypts, the other does not
    kUnlikeLanes,     // each end would look for a flow at another lane
  };
  struct Config {
    std::uint64_t epoch = 0;
    bool opens_even_streams = true;
    std::uint8_t lane_count = 1;
    std::uint16_t datagram_size = 0;
    Duration interval = Duration::seconds(1);
    std::uint32_t capabilities = 0;  // offered
    bool encrypts = false;
  };

  Handshake(const Config& config, Instant now) : config_(config), hello_at_(now) {}

  // kIncompatible, kUnlikeSecurity or kUnlikeLanes if there can be no session with its sender, else
  // kNothing.
  Outcome find_mismatch(const HelloFrame& hello) const;
  // `peer_silent`: nothing was heard of the established peer for long, so that one with an older
  // epoch (its clock was set back) may take its place.
  Outcome handle_hello(const HelloFrame& hello, std::uint32_t number, bool peer_silent,
                       Instant now);
  // A packet of the newcomer's session arrived: it is the peer.
  void establish_newcomer();
  // A packet of another session arrived: its sender is told who we are, but not for each packet.
  void answer_stranger(Instant now);
  // The peer, though it is known, is asked to greet us once more: soon, then every interval.
  void ask_again(Instant now) {
    asks_ = true;
    hello_at_ = std::min(hello_at_, later(now, last_hello_ + config_.interval));
  }
  // The same, at once: it greets us, perhaps, and is not understood.
  void ask_soon(Instant now) {
    asks_ = true;
    answer_stranger(now);
  }
  // CLOSE arrived: no more HELLOs of our own, but to a newcomer.
  void stop() {
    if (!newcomer_) hello_at_ = Instant::never();
  }
  // We close: nobody is greeted any more.
  void end() {
    newcomer_.reset();
    hello_at_ = Instant::never();
  }
  // A newcomer that has sent neither HELLO nor proof for long is forgotten.
  void expire(Instant now);
  // A HELLO of `epoch` came that repeats an offer, under its MAC: if that is the newcomer, it still
  // waits for our answer.
  void on_repeated(std::uint64_t epoch, Instant now) {
    expire(now);
    if (newcomer() == epoch) newcomer_->until = now + config_.interval * kNewcomerIntervals;
  }

  // The next one answers a HELLO.
  bool owes_answer() const { return echo_ != 0 || owes_peer_; }
  bool hello_due(Instant now) const { return now >= hello_at_; }
  Instant next_hello() const { return hello_at_; }
  // The HELLO to send now, and its number.
  HelloFrame make_hello(std::uint64_t lane_credit, std::uint64_t stream_credit, Instant now);
  std::uint32_t hello_number() const { return number_; }

  State state() const { return state_; }
  bool knows_peer() const { return peer_.epoch != 0; }
  // Who was established last.
  const HelloFrame& peer() const { return peer_; }
  // 0: there is none.
  std::uint64_t newcomer() const { return newcomer_ ? newcomer_->hello.epoch : 0; }
  // Whether both ends offer it.
  bool agreed(std::uint32_t capability) const {
    return (config_.capabilities & peer_.capabilities & capability) != 0;
  }
  // Round trip of a HELLO that was just answered; zero if there is none.
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
  // A stranger or a corrupted tag costs at most this many HELLOs.
  static constexpr Duration kAnswerInterval = Duration::milliseconds(50);
  // Who floods us with HELLOs in the peer's name gets so many answers at once, and one each
  // interval. It matters less once the peer is known.
  static constexpr int kAnswers = 16;
  static constexpr Duration kGreetingInterval = Duration::milliseconds(20);
  static constexpr int kQuickHellos = 3;
  // A newcomer may miss some HELLOs in a row.
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
  std::array<Instant, kRemembered> sent_at_;  // of the last HELLOs, by number
  std::uint32_t number_ = 0;
  std::uint32_t echo_ = 0;
  int unanswered_ = 0;
  bool asks_ = false;
  bool owes_peer_ = false;  // an answer; a newcomer can wait
  Duration rtt_sample_;
};

}  // namespace satrelay::stp
