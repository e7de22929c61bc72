// Flows that have something to send to their hosts. The first flow has its turn, then the next.
// Each flow is in the ring at most once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace satrelay::gateway {

class FlowRing {
 public:
  // Maximum number of segments that a flow sends before the next flow has its turn. Long turns keep
  // the flow's data in the processor's cache.
  static constexpr std::uint32_t kTurn = 16;

  explicit FlowRing(std::uint32_t slots) : ring_(slots), queued_(slots, false) {}

  bool empty() const { return count_ == 0; }
  // Has no effect if the flow is already in the ring.
  void add(std::uint32_t slot) {
    if (queued_[slot]) return;
    queued_[slot] = true;
    ring_[(first_ + count_) % ring_.size()] = slot;
    ++count_;
  }
  bool has(std::uint32_t slot) const { return queued_[slot]; }
  // The flow that has the turn. The ring must not be empty.
  std::uint32_t front() const { return ring_[first_]; }
  bool turn_is_over() const { return turn_ >= kTurn; }
  std::uint32_t left_of_turn() const { return turn_is_over() ? 0 : kTurn - turn_; }
  void count_segments(std::size_t count) { turn_ += static_cast<std::uint32_t>(count); }
  // Removes the first flow from the ring.
  void end_turn() {
    turn_ = 0;
    queued_[ring_[first_]] = false;
    first_ = (first_ + 1) % ring_.size();
    --count_;
  }

 private:
  std::vector<std::uint32_t> ring_;  // slots
  std::vector<bool> queued_;         // by slot
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::uint32_t turn_ = 0;  // segments that the first flow has sent in its turn
};

}  // namespace satrelay::gateway
