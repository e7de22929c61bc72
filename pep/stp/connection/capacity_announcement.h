// The capacity of a direction, as its receiver has announced it to its sender (RATE frames,
// docs/stp.md section 5). Only the newest announcement counts. A lost one is sent again, like
// credit. An older one that arrives late has no effect, because of its sequence number.
#pragma once

#include <cstdint>

#include "pep/base/units.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

// The receiver's side of a direction. It announces the capacity.
class CapacityAnnouncement {
 public:
  // Zero withdraws the announcement.
  void announce(BitRate capacity) {
    capacity_ = capacity;
    ++sequence_;
    due_ = true;
  }
  // A new peer knows no capacity yet, so the present announcement is sent again.
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

// The sender's side. It obeys the announcement.
class AnnouncedCapacity {
 public:
  // True if the capacity has changed.
  bool accept(const RateFrame& frame) {
    if (frame.sequence <= sequence_) return false;
    sequence_ = frame.sequence;
    const bool changed = frame.capacity != capacity_;
    capacity_ = frame.capacity;
    return changed;
  }
  // Zero: the peer has announced nothing.
  BitRate capacity() const { return capacity_; }

 private:
  std::uint64_t sequence_ = 0;
  BitRate capacity_;
};

}  // namespace satrelay::stp
