// Frames in flight: a ring for frames in order, and a heap for the few that are out of order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/base/time.h"

namespace satrelay::link {

using FrameHandle = std::uint64_t;

// A frame in flight. The type is trivial, so that a ring of such frames needs no initialisation.
struct InFlight {
  static constexpr std::uint32_t kIntact = 0xffff'ffffU;
  std::int64_t due_nanoseconds;
  FrameHandle frame;
  std::uint32_t bytes;
  std::uint32_t corrupt_bit;

  Instant due() const { return Instant::from_nanoseconds(due_nanoseconds); }
};

// Holds at most `capacity` frames. Memory is taken at construction.
class DelayLine {
 public:
  enum class Order : std::uint8_t { kKept, kMixed };  // kMixed: push_late() is used

  DelayLine(std::size_t capacity, Order order)
      : capacity_(capacity),
        mask_(std::bit_ceil(capacity) - 1),
        ring_(std::make_unique_for_overwrite<InFlight[]>(mask_ + 1)) {
    if (order == Order::kMixed) late_.reserve(capacity);
  }

  std::size_t size() const { return end_ - begin_ + late_.size(); }
  bool empty() const { return size() == 0; }
  bool full() const { return size() >= capacity_; }

  // Do not call when full(). `entry` must not be due earlier than the entries that push() has added
  // before.
  void push(const InFlight& entry) { ring_[end_++ & mask_] = entry; }
  // Do not call when full(). Any due time is allowed.
  void push_late(const InFlight& entry) {
    late_.push_back({entry, late_count_++});
    std::push_heap(late_.begin(), late_.end(), is_after);
  }

  Instant next_due() const {
    const Instant first = begin_ == end_ ? Instant::never() : ring_[begin_ & mask_].due();
    return late_.empty() ? first : earlier(first, late_.front().entry.due());
  }
  // Removes the entry that is due first, and returns it. Do not call when empty().
  InFlight pop() {
    if (late_.empty() ||
        (begin_ != end_ && ring_[begin_ & mask_].due() <= late_.front().entry.due())) {
      const InFlight entry = ring_[begin_++ & mask_];
      // If the ring is empty, start again at its beginning, so that a short line uses few cache
      // lines.
      if (begin_ == end_) begin_ = end_ = 0;
      return entry;
    }
    std::pop_heap(late_.begin(), late_.end(), is_after);
    const InFlight entry = late_.back().entry;
    late_.pop_back();
    return entry;
  }

 private:
  struct Late {
    InFlight entry;
    std::uint64_t order;  // order of push_late(), for entries that are due at the same time
  };
  static bool is_after(const Late& a, const Late& b) {
    return a.entry.due() != b.entry.due() ? a.entry.due() > b.entry.due() : a.order > b.order;
  }
  std::size_t capacity_;
  std::size_t mask_;
  // Not initialised, so that pages cost memory only once they are used.
  std::unique_ptr<InFlight[]> ring_;
  std::size_t begin_ = 0;  // both indices grow until the ring is empty
  std::size_t end_ = 0;
  std::vector<Late> late_;
  std::uint64_t late_count_ = 0;
};

}  // namespace satrelay::link
