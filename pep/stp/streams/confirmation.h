// The CONFIRM frames of one stream (docs/stp.md section 14). Each gateway tells the other what its
// host has done, if the flow has a mode that needs this. A CONFIRM describes the whole current
// state, so only the newest CONFIRM matters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "pep/stp/types.h"

namespace satrelay::stp {

class ConfirmationExchange {
 public:
  // --- to the peer
  // Sets our confirmation. Returns false if it equals the last one.
  bool say(const Confirmation& confirmation) {
    if (confirmation == ours()) return false;
    state().ours = confirmation;
    return true;
  }
  const Confirmation& ours() const { return state_ ? state_->ours : kNothing; }
  // Returns the sequence number of the CONFIRM that is sent now, counted from 1 per stream.
  std::uint64_t on_sent() { return ++state().sent; }
  // Whether the CONFIRM with the number `sequence` is the last that was sent.
  bool is_newest(std::uint64_t sequence) const { return sequence == sent(); }
  void on_acknowledged(std::uint64_t sequence) {
    if (state_) state_->acknowledged = std::max(state_->acknowledged, sequence);
  }
  bool all_acknowledged() const { return !state_ || state_->acknowledged == state_->sent; }

  // --- from the peer
  // Merges a CONFIRM of the peer. Returns false if a newer CONFIRM has arrived before, or if
  // nothing changes.
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
  // Nullptr for most streams, as the modes of most flows need no CONFIRM.
  std::unique_ptr<State> state_;
};

}  // namespace satrelay::stp
