// A gateway tells the far one what its host has done, for flows with modes that need it (CONFIRM,
// docs/stp.md section 14). A CONFIRM holds states, not events, so only the newest matters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "pep/stp/types.h"

namespace satrelay::stp {

class ConfirmationExchange {
 public:
  // --- to the peer
  // False if the confirmation equals the last one.
  bool say(const Confirmation& confirmation) {
    if (confirmation == ours()) return false;
    state().ours = confirmation;
    return true;
  }
  const Confirmation& ours() const { return state_ ? state_->ours : kNothing; }
  // Numbers the stream's CONFIRM frames, from 1 on.
  std::uint64_t on_sent() { return ++state().sent; }
  // Whether no other frame was sent after the frame `sequence`.
  bool is_newest(std::uint64_t sequence) const { return sequence == sent(); }
  void on_acknowledged(std::uint64_t sequence) {
    if (state_) state_->acknowledged = std::max(state_->acknowledged, sequence);
  }
  bool all_acknowledged() const { return !state_ || state_->acknowledged == state_->sent; }

  // --- from the peer
  // False if the frame is older than the newest one, or tells nothing new.
  bool hear(std::uint64_t sequence, const Confirmation& confirmation) {
    if (sequence == 0 || (state_ && sequence <= state_->heard)) return false;
    state().heard = sequence;
    const Confirmation& before = state_->theirs;
    Confirmation merged = confirmation;
    merged.answered = merged.answered || before.answered;
    merged.ended = merged.ended || before.ended;
    merged.delivered = std::max(merged.delivered, before.delivered);
    merged.keep_alives = std::max(merged.keep_alives, before.keep_alives);
    if (merged.urgent.mark == 0) merged.urgent = before.urgent;
    if (merged.word.question < before.word.question) merged.word = before.word;
    if (merged == before) return false;
    state_->theirs = merged;
    return true;
  }
  const Confirmation& theirs() const { return state_ ? state_->theirs : kNothing; }

  void image(Image& image) { image(state_); }

 private:
  static constexpr Confirmation kNothing{};
  struct State {
    Confirmation ours;
    Confirmation theirs;
    std::uint64_t sent = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t heard = 0;
    void image(Image& image) { image(ours, theirs, sent, acknowledged, heard); }
  };
  State& state() {
    if (!state_) state_ = std::make_unique<State>();
    return *state_;
  }
  std::uint64_t sent() const { return state_ ? state_->sent : 0; }
  std::unique_ptr<State> state_;  // few streams have one: the modes of most flows need none
};

}  // namespace satrelay::stp
