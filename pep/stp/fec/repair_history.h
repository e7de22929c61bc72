// For which packets repairs have left, and when the last one did: what a report calls missing of
// them is not lost while one may have been on its way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/range_set.h"
#include "pep/base/time.h"

namespace satrelay::stp {

class RepairHistory {
 public:
  void on_repair(const Range& packets, Instant now) {
    const bool goes_on = count_ > 0 && newest().packets.begin == packets.begin;
    if (!goes_on) ++count_;
    newest() = {packets, now};
  }
  // The packets whose repairs may have been on the way still at `then`, when the receiver wrote a
  // report, as ranges, ascending. Valid until the next call.
  std::span<const Range> repairable(Instant then) {
    std::size_t begin = kKept;
    const std::size_t oldest = count_ > kKept ? count_ - kKept : 0;
    for (std::size_t i = count_; i > oldest; --i) {
      const Sent& sent = sent_[(i - 1) % kKept];
      if (sent.last_repair <= then) break;
      repairable_[--begin] = sent.packets;
    }
    return std::span(repairable_).subspan(begin);
  }
  void clear() { count_ = 0; }

 private:
  static constexpr std::size_t kKept = 256;
  struct Sent {
    Range packets;
    Instant last_repair;
  };
  Sent& newest() { return sent_[(count_ - 1) % kKept]; }

  std::array<Sent, kKept> sent_;  // a ring
  std::size_t count_ = 0;
  std::array<Range, kKept> repairable_;
};

}  // namespace satrelay::stp
