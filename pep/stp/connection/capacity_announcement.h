// The receiver of a direction announces the direction's capacity to the sender (RATE frames,
// docs/stp.md section 5). Only the newest announcement counts. If an announcement is lost, it is
// sent again. If an older announcement arrives late, its sequence number shows this, and it is
// ignored.
#pragma once

#include <cstdint>

#include "pep/base/units.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

// The receiving side of a direction, which announces the capacity.
class CapacityAnnouncement {
 public:
  // Zero withdraws the announcement.
  void announce(BitRate capacity) {
    capacity_ = capacity;
    ++sequence_;
    due_ = true;
  }
  // A new peer does not know the capacity, so the current announcement is sent again.
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

// The sending side of a direction, which obeys the announcement.
class AnnouncedCapacity {
 public:
  // Returns true if the capacity has changed.
  bool accept(const RateFrame& frame) {
    if (frame.sequence <= sequence_) return false;
    sequence_ = frame.sequence;
    const bool changed = frame.capacity != capacity_;
    capacity_ = frame.capacity;
    return changed;
  }
  // Zero if the peer has announced none.
  BitRate capacity() const { return capacity_; }

 private:
  std::uint64_t sequence_ = 0;
  BitRate capacity_;
};

}  // namespace satrelay::stp
