// What one end has told the other about the capacity of the direction towards itself (RATE frames,
// docs/stp.md section 5). Only the newest announcement counts: it is repaired like credit, and its
// sequence number keeps one that was overtaken from having effect.
#pragma once

#include <cstdint>

#include "pep/base/units.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

// The receiver's side of a direction, which announces.
class CapacityAnnouncement {
 public:
  // Zero withdraws what was announced.
  void announce(BitRate capacity) {
    capacity_ = capacity;
    ++sequence_;
    due_ = true;
  }
  // A peer that knows nothing yet: what holds is said again.
  void on_new_session() {
    due_ = !capacity_.is_zero();
    if (due_) ++sequence_;
  }
  void on_lost(std::uint64_t sequence) {
    if (sequence == sequence_) due_ = true;
  }
  bool due() const { return due_; }
  RateFrame take() {
    due_ = false;
    return {sequence_, capacity_};
  }

 private:
  BitRate capacity_;
  std::uint64_t sequence_ = 0;
  bool due_ = false;
};

// The sender's side, which obeys.
class AnnouncedCapacity {
 public:
  // Whether anything has changed.
  bool accept(const RateFrame& frame) {
    if (frame.sequence <= sequence_) return false;
    sequence_ = frame.sequence;
    const bool changed = frame.capacity != capacity_;
    capacity_ = frame.capacity;
    return changed;
  }
  // Zero: nothing is announced.
  BitRate capacity() const { return capacity_; }

 private:
  std::uint64_t sequence_ = 0;
  BitRate capacity_;
};

}  // namespace satrelay::stp
