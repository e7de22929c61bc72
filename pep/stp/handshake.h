// HELLO: finds out who the peer is and whether it still is who it was (docs/stp.md section 4).
//
//   kIdle --HELLO of the peer--> kGreeted --proof that the peer knows our epoch--> kEstablished
//
// The proof is a HELLO that names our epoch, or any packet of the session, whose checksum covers
// both epochs. A HELLO with a newer epoch leads from any state to kGreeted: the peer was restarted.
// Of a session that encrypts, KeyExchange has seen to it that the peer has said what is read here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/frames.h"
#include "pep/stp/packet.h"

namespace satrelay::stp {

class Handshake {
 public:
  enum class State : std::uint8_t { kIdle, kGreeted, kEstablished, kRefused };
  enum class Outcome : std::uint8_t {
    kNothing,
    kNewPeer,      // an epoch not seen before: what there was with the old one is void
    kEstablished,  // now, by this HELLO
    kStale,        // from a session that is over
    kIncompatible,
    kUnlikeSecurity,  // one end encrypts, the other does not
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

  // kIncompatible or kUnlikeSecurity if there can be no session with its sender, else kNothing.
  Outcome find_mismatch(const HelloFrame& hello) const;
  // `peer_silent`: nothing was heard of the established peer for long, so that one with an older
  // epoch (its clock was set back) may take its place.
  Outcome handle_hello(const HelloFrame& hello, std::uint32_t number, bool peer_silent,
                       Instant now);
  // A packet of the session arrived; true if that established it.
  bool handle_session_packet();
  // A packet of another session arrived: its sender is told who we are, but not for each packet.
  void answer_stranger(Instant now);
  // The peer, though it is known, is asked for keys once more: soon, then every interval.
  void ask_again(Instant now) {
    hello_at_ = std::min(hello_at_, later(now, last_answer_ + config_.interval));
  }
  // CLOSE arrived: no more HELLOs of our own.
  void stop() { hello_at_ = Instant::never(); }

  bool hello_due(Instant now) const { return now >= hello_at_; }
  Instant next_hello() const { return hello_at_; }
  // The HELLO to send now, and its number.
  HelloFrame make_hello(std::uint64_t lane_credit, std::uint64_t stream_credit, Instant now);
  std::uint32_t hello_number() const { return number_; }

  State state() const { return state_; }
  bool knows_peer() const { return peer_.epoch != 0; }
  const HelloFrame& peer() const { return peer_; }
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
  // A stranger or a corrupted tag costs at most this many HELLOs.
  static constexpr Duration kAnswerInterval = Duration::milliseconds(50);
  static constexpr int kQuickHellos = 3;

  void answer(std::uint32_t number, Instant now) {
    echo_ = number;
    hello_at_ = now;
  }
  void note_echo(const HelloFrame& hello, Instant now);
  Config config_;
  State state_ = State::kIdle;
  HelloFrame peer_;
  Instant hello_at_;
  Instant last_answer_ = Instant::from_nanoseconds(0) - Duration::seconds(3600);
  static constexpr std::uint32_t kRemembered = 8;
  std::array<Instant, kRemembered> sent_at_;  // of the last HELLOs, by number
  std::uint32_t number_ = 0;
  std::uint32_t echo_ = 0;
  int unanswered_ = 0;
  Duration rtt_sample_;
};

}  // namespace satrelay::stp
