// Where one thread leaves what it tells, and another finds the latest of it. Neither ever waits for
// the other, nothing is copied, and nobody frees what the other has made: of three values the
// writer has one, the reader another, and they exchange theirs for the third.
//
//   writer:  fill(latest.draft()); latest.publish();
//   reader:  if (const Report* report = latest.take()) ...
#pragma once

#include <array>
#include <atomic>

namespace satrelay::ops {

template <typename Value>
class LatestValue {
 public:
  // --- the writer's thread ----------------------------------------------------------------------
  // What is to be published next. It has what an earlier value has left there.
  Value& draft() { return values_[draft_]; }
  void publish() {
    draft_ = between_.exchange(draft_ | kIsNew, std::memory_order_acq_rel) & kPlace;
  }

  // --- any other thread, one at a time ----------------------------------------------------------
  // What was published last, for as long as take() is not called again; null if that was taken.
  const Value* take() {
    if ((between_.load(std::memory_order_relaxed) & kIsNew) == 0) return nullptr;
    taken_ = between_.exchange(taken_, std::memory_order_acq_rel) & kPlace;
    return &values_[taken_];
  }

 private:
  static constexpr unsigned kPlace = 3;
  static constexpr unsigned kIsNew = 4;

  std::array<Value, 3> values_{};
  unsigned draft_ = 0;
  std::atomic<unsigned> between_ = 1;
  unsigned taken_ = 2;
};

}  // namespace satrelay::ops
