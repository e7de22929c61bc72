#include "pep/stp/handshake.h"

#include <algorithm>

namespace satrelay::stp {

Handshake::Outcome Handshake::find_mismatch(const HelloFrame& hello) const {
  const bool speaks_ours = hello.minimum_version <= kVersion && kVersion <= hello.maximum_version;
  if (!speaks_ours || hello.opens_even_streams == config_.opens_even_streams) {
    return Outcome::kIncompatible;
  }
  return hello.encrypts == config_.encrypts ? Outcome::kNothing : Outcome::kUnlikeSecurity;
}

Handshake::Outcome Handshake::handle_hello(const HelloFrame& hello, std::uint32_t number,
                                           bool peer_silent, Instant now) {
  if (const Outcome mismatch = find_mismatch(hello); mismatch != Outcome::kNothing) {
    // An established session is not harmed by a stray; else our own HELLOs go on and tell the peer.
    if (state_ == State::kEstablished) {
      if (hello.answer_wanted) answer_stranger(now);
    } else {
      state_ = State::kRefused;
      peer_ = {};
    }
    return mismatch;
  }
  if (hello.epoch != peer_.epoch) {
    if (hello.epoch < peer_.epoch && !peer_silent) {
      answer_stranger(now);
      return Outcome::kStale;
    }
    peer_ = hello;
    state_ = hello.peer_epoch == config_.epoch ? State::kEstablished : State::kGreeted;
    unanswered_ = 0;
    note_echo(hello, now);
    answer(number, now);
    return Outcome::kNewPeer;
  }
  note_echo(hello, now);
  if (hello.answer_wanted) answer(number, now);
  if (state_ != State::kEstablished && hello.peer_epoch == config_.epoch) {
    state_ = State::kEstablished;
    // The peer may still wait for its proof; the answer is one, if it asked for it.
    if (!hello.answer_wanted) hello_at_ = Instant::never();
    return Outcome::kEstablished;
  }
  return Outcome::kNothing;
}

void Handshake::note_echo(const HelloFrame& hello, Instant now) {
  const bool remembered = hello.echo != 0 && number_ - hello.echo < kRemembered;
  if (remembered && hello.peer_epoch == config_.epoch) {
    rtt_sample_ = now - sent_at_[hello.echo % kRemembered];
  }
}

bool Handshake::handle_session_packet() {
  if (state_ != State::kGreeted) return false;
  state_ = State::kEstablished;
  hello_at_ = Instant::never();
  return true;
}

void Handshake::answer_stranger(Instant now) {
  hello_at_ = std::min(hello_at_, later(now, last_answer_ + kAnswerInterval));
}

HelloFrame Handshake::make_hello(std::uint64_t lane_credit, std::uint64_t stream_credit,
                                 Instant now) {
  HelloFrame hello;
  hello.minimum_version = hello.maximum_version = kVersion;
  hello.opens_even_streams = config_.opens_even_streams;
  hello.answer_wanted = state_ != State::kEstablished;
  hello.lane_count = config_.lane_count;
  hello.capabilities = config_.capabilities;
  hello.encrypts = config_.encrypts;
  hello.epoch = config_.epoch;
  hello.peer_epoch = peer_.epoch;
  hello.echo = echo_;
  hello.datagram_size = config_.datagram_size;
  hello.lane_credit = lane_credit;
  hello.stream_credit = stream_credit;
  echo_ = 0;
  if (++number_ == 0) number_ = 1;  // zero means "no HELLO" in the echo field
  sent_at_[number_ % kRemembered] = last_answer_ = now;
  // The first ones follow each other quickly: a lost HELLO shall not cost a second.
  const bool quick = ++unanswered_ < kQuickHellos;
  hello_at_ = state_ == State::kEstablished
                  ? Instant::never()
                  : now + (quick ? config_.interval / 20 : config_.interval);
  return hello;
}

}  // namespace satrelay::stp
