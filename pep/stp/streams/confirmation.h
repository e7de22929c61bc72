// What a gateway tells the far one about its host, for flows whose modes want it (CONFIRM,
// docs/stp.md section 14): states, not events, so that only the newest matters.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/stp/types.h"

namespace satrelay::stp {

class ConfirmationExchange {
 public:
  // --- to the peer
  // False if that is what was said last.
  bool say(const Confirmation& confirmation) {
    if (confirmation == ours_) return false;
    ours_ = confirmation;
    return true;
  }
  const Confirmation& ours() const { return ours_; }
  // Each CONFIRM frame has a number of its own, from 1 on.
  std::uint64_t on_sent() { return ++sent_; }
  // What the frame `sequence` said is no longer the newest if another was sent after it.
  bool is_newest(std::uint64_t sequence) const { return sequence == sent_; }
  void on_acknowledged(std::uint64_t sequence) {
    acknowledged_ = std::max(acknowledged_, sequence);
  }
  bool all_acknowledged() const { return acknowledged_ == sent_; }

  // --- from the peer
  // False if it is older than what is known, or nothing new.
  bool hear(std::uint64_t sequence, const Confirmation& confirmation) {
    if (sequence <= heard_) return false;
    heard_ = sequence;
    Confirmation merged = confirmation;
    merged.answered = merged.answered || theirs_.answered;
    merged.ended = merged.ended || theirs_.ended;
    merged.delivered = std::max(merged.delivered, theirs_.delivered);
    merged.keep_alives = std::max(merged.keep_alives, theirs_.keep_alives);
    if (merged == theirs_) return false;
    theirs_ = merged;
    return true;
  }
  const Confirmation& theirs() const { return theirs_; }

 private:
  Confirmation ours_;
  Confirmation theirs_;
  std::uint64_t sent_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t heard_ = 0;
};

}  // namespace satrelay::stp
