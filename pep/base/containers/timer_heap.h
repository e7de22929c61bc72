// Deadlines for a fixed number of slots (flows): an indexed 4-ary heap, preallocated, so arming,
// moving and cancelling a timer never allocates and costs O(log n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/time.h"

namespace satrelay {

class TimerHeap {
 public:
  explicit TimerHeap(std::uint32_t slots);

  // Arms, moves or (with Instant::never()) cancels the timer of `slot`.
  void set(std::uint32_t slot, Instant deadline);
  Instant next_deadline() const {
    return heap_.empty() ? Instant::never() : heap_.front().deadline;
  }
  // The slot with the earliest deadline. At least one timer must be armed.
  std::uint32_t next_slot() const { return heap_.front().slot; }

 private:
  struct Entry {
    Instant deadline;
    std::uint32_t slot;
  };
  void place(std::size_t index, Entry entry);
  void settle(std::size_t index, Entry entry);
  void sift_up(std::size_t index, Entry entry);
  void sift_down(std::size_t index, Entry entry);
  static constexpr std::uint32_t kUnarmed = 0xffff'ffffU;
  std::vector<Entry> heap_;
  std::vector<std::uint32_t> position_;  // index into heap_ of each slot
};

}  // namespace satrelay
