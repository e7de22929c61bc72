// Passes the latest value from one thread to another. Neither thread waits for the other, no value
// is copied, and no thread frees memory of the other. There are three values: one belongs to the
// writer, one to the reader, and one lies between them. Each thread swaps its own value with the
// value between them.
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
  // The value to publish next. Until it is overwritten, it has the contents of an earlier value.
  Value& draft() { return values_[draft_]; }
  void publish() {
    draft_ = between_.exchange(draft_ | kIsNew, std::memory_order_acq_rel) & kPlace;
  }

  // --- any other thread, one at a time ----------------------------------------------------------
  // Returns the latest value, which is valid until the next take(). Returns null if no value was
  // published since the last take().
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
