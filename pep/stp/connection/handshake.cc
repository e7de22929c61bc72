#include "pep/stp/connection/handshake.h"

#include <algorithm>
#include <cstdint>

namespace satrelay::stp {

Handshake::Outcome Handshake::find_mismatch(const HelloFrame& hello) const {
  const bool speaks_ours = hello.minimum_version <= kVersion && kVersion <= hello.maximum_version;
  if (!speaks_ours || hello.opens_even_streams == config_.opens_even_streams) {
    return Outcome::kIncompatible;
  }
  if (hello.encrypts != config_.encrypts) return Outcome::kUnlikeSecurity;
  return hello.lane_count == config_.lane_count ? Outcome::kNothing : Outcome::kUnlikeLanes;
}

// Epochs are clock values. A HELLO with a lower epoch is an old copy, or the clock of the peer was
// set back. As long as packets of the established peer arrive, such a HELLO has no effect. There is
// one exception. With encryption, a HELLO that names our epoch has just accepted our offer, so its
// sender is the peer, and is running now.
bool Handshake::must_wait(const HelloFrame& hello, bool peer_silent) const {
  if (state_ != State::kEstablished || hello.epoch > peer_.epoch || peer_silent) return false;
  return !config_.encrypts || hello.peer_epoch != config_.epoch;
}

Handshake::Outcome Handshake::handle_hello(const HelloFrame& hello, std::uint32_t number,
                                           bool peer_silent, Instant now) {
  expire(now);
  if (const Outcome mismatch = find_mismatch(hello); mismatch != Outcome::kNothing) {
    // If a session is established, this HELLO does not end it. Otherwise, our own HELLOs continue,
    // so that the peer also finds the mismatch.
    if (state_ == State::kEstablished) {
      if (hello.answer_wanted) answer_stranger(now);
    } else if (!newcomer_) {
      state_ = State::kRefused;
    }
    return mismatch;
  }
  if (state_ == State::kEstablished && hello.epoch == peer_.epoch) {
    note_echo(hello, now);
    if (hello.answer_wanted) answer_peer(number, now);
    return Outcome::kNothing;
  }
  if (must_wait(hello, peer_silent)) {
    answer_stranger(now);
    return Outcome::kStale;
  }
  if (hello.peer_epoch == config_.epoch) {
    peer_ = hello;
    newcomer_.reset();
    state_ = State::kEstablished;
    note_echo(hello, now);
    // The peer may still wait for proof. If it has asked for an answer, our answer is the proof.
    hello_at_ = Instant::never();
    if (hello.answer_wanted) answer_peer(number, now);
    return Outcome::kEstablished;
  }
  const bool is_new = newcomer() != hello.epoch;
  newcomer_ = {hello, now + config_.interval * kNewcomerIntervals};
  if (state_ != State::kEstablished) state_ = State::kGreeted;
  if (is_new) unanswered_ = 0;
  if (is_new || hello.answer_wanted) answer(number, now);
  return is_new ? Outcome::kNewcomer : Outcome::kNothing;
}

void Handshake::establish_newcomer() {
  peer_ = newcomer_->hello;
  newcomer_.reset();
  state_ = State::kEstablished;
  hello_at_ = Instant::never();
  asks_ = false;
}

void Handshake::expire(Instant now) {
  if (!newcomer_ || now < newcomer_->until) return;
  newcomer_.reset();
  if (state_ == State::kGreeted) state_ = State::kIdle;
}

void Handshake::note_echo(const HelloFrame& hello, Instant now) {
  const bool remembered = hello.echo != 0 && number_ - hello.echo < kRemembered;
  if (remembered && hello.peer_epoch == config_.epoch) {
    rtt_sample_ = now - sent_at_[hello.echo % kRemembered];
  }
}

void Handshake::answer(std::uint32_t number, Instant now) {
  const Duration interval = state_ == State::kEstablished ? kAnswerInterval : kGreetingInterval;
  const std::int64_t earned = (now - last_earned_) / interval;
  if (earned > 0) {
    answers_left_ = static_cast<int>(std::min<std::int64_t>(kAnswers, answers_left_ + earned));
    last_earned_ = now;
  }
  if (!owes_peer_) echo_ = number;
  hello_at_ = std::min(hello_at_, answers_left_ > 0 ? now : last_earned_ + interval);
}

void Handshake::answer_peer(std::uint32_t number, Instant now) {
  owes_peer_ = false;
  answer(number, now);
  owes_peer_ = true;
}

void Handshake::answer_stranger(Instant now) {
  hello_at_ = std::min(hello_at_, later(now, last_hello_ + kAnswerInterval));
}

HelloFrame Handshake::make_hello(std::uint64_t lane_credit, std::uint64_t stream_credit,
                                 Instant now) {
  expire(now);
  HelloFrame hello;
  hello.minimum_version = hello.maximum_version = kVersion;
  hello.opens_even_streams = config_.opens_even_streams;
  const bool waits = state_ != State::kEstablished || newcomer_;
  hello.answer_wanted = waits || asks_;
  hello.lane_count = config_.lane_count;
  hello.capabilities = config_.capabilities;
  hello.encrypts = config_.encrypts;
  hello.epoch = config_.epoch;
  hello.peer_epoch = newcomer_ && !owes_peer_ ? newcomer() : peer_.epoch;
  hello.echo = echo_;
  hello.datagram_size = config_.datagram_size;
  hello.lane_credit = lane_credit;
  hello.stream_credit = stream_credit;
  echo_ = 0;
  asks_ = owes_peer_ = false;
  if (++number_ == 0) number_ = 1;  // a zero in the echo field means that no HELLO is answered
  sent_at_[number_ % kRemembered] = last_hello_ = now;
  answers_left_ = std::max(answers_left_ - 1, -1);
  // The first HELLOs follow each other quickly, so that the loss of one does not cost a second.
  const bool quick = ++unanswered_ < kQuickHellos;
  hello_at_ = waits ? now + (quick ? config_.interval / 20 : config_.interval) : Instant::never();
  return hello;
}

}  // namespace satrelay::stp
