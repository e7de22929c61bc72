// Copies of what must not be lost twice: when nothing else waits to be sent, retransmissions and
// the last packet of a burst travel again, because another loss would cost a whole round trip and
// the capacity is idle. Never in the middle of bulk; on a path without loss only what opens a
// stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/sent_ledger.h"

namespace satrelay::stp {

class TailCopies {
 public:
  // Copies that bring the chance of losing all of them to about 1e-4, at most three; none without
  // loss.
  static int copies_for(double loss_ratio) {
    if (loss_ratio < 0.0005) return 0;
    int copies = 0;
    for (double residual = loss_ratio; residual > 2e-4 && copies < kMaxCopies; ++copies) {
      residual *= loss_ratio;
    }
    return copies;
  }

  bool empty() const { return count_ == 0; }
  void push(const SentItem& item, int copies, Instant now) {
    if (copies == 0) return;
    if (count_ == entries_.size()) pop();  // the newest are nearest to the tail
    entries_[(first_ + count_++) % entries_.size()] = {item, now, copies};
  }
  const SentItem& front() const { return entries_[first_].item; }
  // Whether the front is so old that its fate will be known before a copy could help.
  bool stale(Instant now, Duration round_trip) const {
    return now > entries_[first_].pushed + round_trip;
  }
  // One copy of the front has been sent; the next one follows those of the others.
  void on_copied() {
    Entry entry = entries_[first_];
    pop();
    if (--entry.copies > 0) entries_[(first_ + count_++) % entries_.size()] = entry;
  }
  void pop() {
    first_ = (first_ + 1) % entries_.size();
    --count_;
  }
  void clear() { count_ = 0; }

 private:
  static constexpr int kMaxCopies = 3;
  struct Entry {
    SentItem item;
    Instant pushed;
    int copies = 0;
  };
  std::array<Entry, 512> entries_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace satrelay::stp
