// Knows which of many members may have something to do: members that were woken, and members that
// are due. The other members rest, and cost nothing however many they are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/containers/timer_heap.h"
#include "pep/base/time.h"

namespace satrelay {

class ReadySet {
 public:
  // Wakes one member. The ReadySet must outlive it.
  class Bell {
   public:
    Bell() = default;
    void ring() const {
      if (word_ != nullptr) *word_ |= bit_;
    }

   private:
    friend class ReadySet;
    Bell(std::uint64_t& word, std::uint64_t bit) : word_(&word), bit_(bit) {}
    std::uint64_t* word_ = nullptr;
    std::uint64_t bit_ = 0;
  };

  // All members begin awake.
  explicit ReadySet(std::size_t count)
      : count_(count), awake_((count + 63) / 64), timers_(static_cast<std::uint32_t>(count)) {
    wake_all();
  }
  ReadySet(const ReadySet&) = delete;
  ReadySet& operator=(const ReadySet&) = delete;

  Bell bell(std::size_t i) { return {awake_[i / 64], bit(i)}; }
  void wake(std::size_t i) { awake_[i / 64] |= bit(i); }
  void wake_all() {
    for (std::size_t i = 0; i < count_; ++i) wake(i);
  }
  // Wakes the resting members that are due at `now`.
  void wake_due(Instant now) {
    while (timers_.next_deadline() <= now) {
      wake(timers_.next_slot());
      timers_.set(timers_.next_slot(), Instant::never());
    }
  }
  // Member `i` has nothing to do before `until`, unless it is woken.
  void rest(std::size_t i, Instant until) {
    awake_[i / 64] &= ~bit(i);
    timers_.set(static_cast<std::uint32_t>(i), until);
  }
  // When the first resting member has something to do, at the earliest. It may have been woken
  // since.
  Instant next_deadline() const { return timers_.next_deadline(); }

  std::size_t awake() const {
    std::size_t sum = 0;
    for (const std::uint64_t word : awake_) sum += static_cast<std::size_t>(std::popcount(word));
    return sum;
  }
  bool is_awake(std::size_t i) const { return (awake_[i / 64] & bit(i)) != 0; }
  // The first member from `i` on that is awake.
  std::optional<std::size_t> from(std::size_t i) const {
    for (std::size_t at = i / 64; at < awake_.size(); ++at, i = at * 64) {
      const std::uint64_t word = awake_[at] & (~std::uint64_t{0} << (i % 64));
      if (word != 0) return at * 64 + static_cast<std::size_t>(std::countr_zero(word));
    }
    return std::nullopt;
  }
  // Calls visit(i) for each member that is awake, in ascending order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (auto i = from(0); i; i = from(*i + 1)) visit(*i);
  }

 private:
  static std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << (i % 64); }

  std::size_t count_;
  std::vector<std::uint64_t> awake_;
  TimerHeap timers_;
};

}  // namespace satrelay
