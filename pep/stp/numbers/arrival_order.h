// Measures how late packets arrive that were overtaken by packets with higher numbers. The receiver
// reports this lateness to the sender. Before either end considers a gap a loss, it waits for about
// this time. Packet numbers are never used twice, so a late packet is never a retransmission.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/time.h"

namespace satrelay::stp {

class ArrivalOrder {
 public:
  // A packet that is later than this counts as lost, and its lateness is not measured.
  static constexpr Duration kMaxLateness = Duration::milliseconds(250);
  // The greatest lateness is remembered for one to two times this duration. Reordering may recur,
  // for example at the next handover between satellites.
  static constexpr Duration kMemory = Duration::seconds(30);

  // Packet `next` - 1 has arrived, and is now the highest packet number seen.
  void on_progress(std::uint64_t next, Instant now) {
    if (count_ > 0 && now < mark(count_ - 1).when + kGrain) return;
    if (marks_ == nullptr) marks_ = std::make_unique<Marks>();
    (*marks_)[count_++ % kMarks] = {next, now};
  }
  // Packet `number` arrived after a higher number.
  void on_late(std::uint64_t number, Instant now) {
    // The first mark above `number` shows when a higher number arrived, to an accuracy of kGrain.
    std::uint64_t low = count_ > kMarks ? count_ - kMarks : 0;
    if (low > 0 && mark(low).next > number) return;  // the packet was overtaken too long ago
    std::uint64_t high = count_;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (mark(middle).next > number) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const Duration late = low < count_ ? now - mark(low).when : Duration::zero();
    if (late + kGrain > kMaxLateness) return;
    age(now);
    recent_ = std::max(recent_, late + kGrain);
  }
  // The greatest lateness of the last 30 to 60 s; zero if all packets arrived in order.
  Duration lateness(Instant now) {
    age(now);
    return std::max(recent_, before_);
  }

 private:
  void age(Instant now) {
    if (now < turn_ + kMemory) return;
    before_ = now < turn_ + kMemory * 2 ? recent_ : Duration::zero();
    recent_ = Duration::zero();
    turn_ = now;
  }
  static constexpr Duration kGrain = Duration::milliseconds(1);
  static constexpr std::size_t kMarks = 256;
  struct Mark {
    std::uint64_t next = 0;
    Instant when;
  };
  using Marks = std::array<Mark, kMarks>;
  const Mark& mark(std::uint64_t count) const { return (*marks_)[count % kMarks]; }
  // A ring of marks. Each mark records when packet `next` - 1 arrived as the highest number seen.
  // At most one mark is added per kGrain. The ring is allocated for the first mark.
  std::unique_ptr<Marks> marks_;
  std::uint64_t count_ = 0;
  Duration recent_;
  Duration before_;
  Instant turn_;
};

}  // namespace satrelay::stp
