// Frames that wait for the transmitter. They leave in order of arrival. There are four classes. If
// the queue is full, the newest frames of the least important class are dropped first (TP-S section
// 2.4).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pep/base/time.h"
#include "relay/link/delay_line.h"

namespace satrelay::link {

inline constexpr std::size_t kPriorities = 4;  // priority 0 is kept longest, 3 is dropped first

// A frame that waits. The type is trivial, so that a ring of such frames needs no initialisation.
struct WaitingFrame {
  FrameHandle frame;
  std::int64_t since_nanoseconds;
  std::uint64_t order;  // order of arrival, set by FrameQueue
  std::uint32_t bytes;
  std::uint32_t accounted;
  std::uint8_t priority;
  // 2 if the frame will be delivered twice, otherwise 1.
  std::uint8_t copies;

  // When the frame arrived.
  Instant since() const { return Instant::from_nanoseconds(since_nanoseconds); }
};

// Memory for `capacity` frames in each class is reserved at construction, and touched when used.
class FrameQueue {
 public:
  explicit FrameQueue(std::size_t capacity) : mask_(std::bit_ceil(capacity) - 1) {
    for (Class& c : classes_) c.ring = std::make_unique_for_overwrite<WaitingFrame[]>(mask_ + 1);
  }

  bool empty() const { return frames_ == 0; }
  std::size_t size() const { return frames_; }
  std::uint64_t accounted_bytes() const { return bytes_; }

  void push(WaitingFrame frame) {
    frame.order = next_order_++;
    Class& c = classes_[frame.priority];
    c.ring[c.end++ & mask_] = frame;
    c.bytes += frame.accounted;
    bytes_ += frame.accounted;
    ++frames_;
  }
  // The frame that arrived first. Do not call when empty().
  const WaitingFrame& front() const { return classes_[first_class()].front(mask_); }
  WaitingFrame pop() {
    Class& c = classes_[first_class()];
    const WaitingFrame frame = c.front(mask_);
    ++c.begin;
    forget(c, frame);
    return frame;
  }
  // The bytes of all frames that may be dropped to make room for a frame of `priority`: the less
  // important frames, with a higher number.
  std::uint64_t bytes_below(std::uint8_t priority) const {
    std::uint64_t sum = 0;
    for (std::size_t i = priority + 1U; i < kPriorities; ++i) sum += classes_[i].bytes;
    return sum;
  }
  // Removes the newest frame of the least important class that has frames. Do not call when
  // empty().
  WaitingFrame evict() {
    std::size_t lowest = kPriorities - 1;
    while (classes_[lowest].empty()) --lowest;
    Class& c = classes_[lowest];
    const WaitingFrame frame = c.ring[--c.end & mask_];
    forget(c, frame);
    return frame;
  }

 private:
  struct Class {
    std::unique_ptr<WaitingFrame[]> ring;
    std::size_t begin = 0;  // both indices grow until the ring is empty
    std::size_t end = 0;
    std::uint64_t bytes = 0;
    bool empty() const { return begin == end; }
    const WaitingFrame& front(std::size_t mask) const { return ring[begin & mask]; }
  };
  std::size_t first_class() const {
    std::size_t first = kPriorities;
    for (std::size_t i = 0; i < kPriorities; ++i) {
      if (classes_[i].empty()) continue;
      if (first == kPriorities ||
          classes_[i].front(mask_).order < classes_[first].front(mask_).order) {
        first = i;
      }
    }
    return first;
  }
  void forget(Class& c, const WaitingFrame& frame) {
    c.bytes -= frame.accounted;
    bytes_ -= frame.accounted;
    --frames_;
    if (c.empty()) c.begin = c.end = 0;
  }
  std::size_t mask_;
  std::array<Class, kPriorities> classes_;
  std::size_t frames_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_order_ = 0;
};

}  // namespace satrelay::link
