// Fragments that the reassembly has held, and that the gateway then bridges. They are sent by the
// WAN port unchanged, from the reassembly's memory. A fragment that need not wait is sent when the
// port is next polled. A fragment that must wait for the link has a slot among the held frames.
#pragma once

#include <cstddef>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/gateway/frames/fragments/reassembly.h"

namespace satrelay::gateway {

class ReleasedFragments {
 public:
  // Slots are numbered from 0 to slots - 1.
  ReleasedFragments(Reassembly& reassembly, std::size_t slots)
      : reassembly_(reassembly), by_slot_(slots, kNoCell), queue_(Reassembly::kMostFragments) {}
  ReleasedFragments(const ReleasedFragments&) = delete;
  ReleasedFragments& operator=(const ReleasedFragments&) = delete;

  void send(Reassembly::Cell cell);
  void hold(std::size_t slot, Reassembly::Cell cell);

  bool any_to_send() const { return queued_ > 0; }
  std::size_t held() const { return held_; }
  bool holds(std::size_t slot) const { return by_slot_[slot] != kNoCell; }
  // Writes the next fragment that need not wait. Returns its size; 0 if there is none.
  std::size_t poll_frame(MutableBytes out);
  // Writes the fragment in the slot, for which holds() must be true, and frees the slot.
  std::size_t write_held(std::size_t slot, MutableBytes out);
  // Drops the fragment in the slot, and frees the slot.
  void drop_held(std::size_t slot);
  Instant next_timeout() const { return any_to_send() ? Instant() : Instant::never(); }

 private:
  static constexpr Reassembly::Cell kNoCell = 0xFFFF;
  std::size_t write(Reassembly::Cell cell, MutableBytes out);

  Reassembly& reassembly_;
  std::vector<Reassembly::Cell> by_slot_;
  std::size_t held_ = 0;
  std::vector<Reassembly::Cell> queue_;  // a ring
  std::size_t next_ = 0;
  std::size_t queued_ = 0;
};

}  // namespace satrelay::gateway
