// Tracks which of many members may have work: members that were woken, and members with a deadline
// that has passed. The other members rest and cost almost nothing, however many there are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/containers/timer_heap.h"
#include "pep/base/time.h"
#include "pep/base/typed_id.h"

namespace satrelay {

template <typename Id>
class ReadySet {
 public:
  // A handle with which to wake one member. The ReadySet must outlive its handles.
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

  Bell bell(Id id) { return {word_of(id), bit(id)}; }
  void wake(Id id) { word_of(id) |= bit(id); }
  void wake_all() {
    for (const Id id : id_range(Id(), Id(count_))) wake(id);
  }
  // Wakes the resting members that are due at `now`.
  void wake_due(Instant now) {
    while (timers_.next_deadline() <= now) {
      wake(Id(timers_.next_slot()));
      timers_.set(timers_.next_slot(), Instant::never());
    }
  }
  // Puts a member to rest: it has no work before `until` unless it is woken earlier.
  void rest(Id id, Instant until) {
    word_of(id) &= ~bit(id);
    timers_.set(id.number(), until);
  }
  // The earliest deadline of all members. The member with this deadline may already be awake,
  // because wake() does not clear the deadline.
  Instant next_deadline() const { return timers_.next_deadline(); }

  std::size_t awake() const {
    std::size_t sum = 0;
    for (const std::uint64_t word : awake_) sum += static_cast<std::size_t>(std::popcount(word));
    return sum;
  }
  bool is_awake(Id id) const { return (awake_[id.index() / 64] & bit(id)) != 0; }
  // The first member from `id` on that is awake.
  std::optional<Id> from(Id id) const {
    std::size_t i = id.index();
    for (std::size_t at = i / 64; at < awake_.size(); ++at, i = at * 64) {
      const std::uint64_t word = awake_[at] & (~std::uint64_t{0} << (i % 64));
      if (word != 0) return Id(at * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    }
    return std::nullopt;
  }
  // Calls visit(id) for each member that is awake, in ascending order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (auto id = from(Id()); id; id = from(id->next())) visit(*id);
  }
  // Like for_each(), but visits the members from `first` to the last one, and then the members
  // before `first`. Stops when visit(id) returns false.
  template <typename Visit>
  void for_each_from(Id first, Visit visit) const {
    for (auto id = from(first); id; id = from(id->next())) {
      if (!visit(*id)) return;
    }
    for (auto id = from(Id()); id && *id < first; id = from(id->next())) {
      if (!visit(*id)) return;
    }
  }

 private:
  std::uint64_t& word_of(Id id) { return awake_[id.index() / 64]; }
  static std::uint64_t bit(Id id) { return std::uint64_t{1} << (id.index() % 64); }

  std::size_t count_;
  std::vector<std::uint64_t> awake_;
  TimerHeap timers_;
};

}  // namespace satrelay
