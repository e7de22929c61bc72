// Flows that have something to say to their host, in the order of their turns. Each stands here at
// most once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace satrelay::gateway {

class FlowRing {
 public:
  // Segments that a flow may send before the next one has its turn: keeps its lines in cache.
  static constexpr std::uint32_t kTurn = 16;

  explicit FlowRing(std::uint32_t slots) : ring_(slots), queued_(slots, false) {}

  bool empty() const { return count_ == 0; }
  // No effect if it stands here.
  void add(std::uint32_t slot) {
    if (queued_[slot]) return;
    queued_[slot] = true;
    ring_[(first_ + count_) % ring_.size()] = slot;
    ++count_;
  }
  bool has(std::uint32_t slot) const { return queued_[slot]; }
  // Whose turn it is; not of an empty ring.
  std::uint32_t front() const { return ring_[first_]; }
  bool turn_is_over() const { return turn_ >= kTurn; }
  std::uint32_t left_of_turn() const { return turn_is_over() ? 0 : kTurn - turn_; }
  void count_segments(std::size_t count) { turn_ += static_cast<std::uint32_t>(count); }
  // The first one leaves the ring.
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
  std::uint32_t turn_ = 0;  // segments that the first one has sent in its turn
};

}  // namespace satrelay::gateway
