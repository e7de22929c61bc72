// The time that repairs may take, as additions of one symbol to another. A peer with the right keys
// must not be able to keep a core busy with repairs that ask for much and say little, nor hundreds
// of peers whose paths lose much with the repairs that they are to get. Both codes of a session
// share it, and all sessions of a worker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/work_budget.h"

namespace satrelay::stp {

// So many additions a millisecond. Time that is not used is kept for a tenth of a second, or for
// one repair over a whole window.
class RepairTime {
 public:
  explicit RepairTime(std::int64_t in_a_millisecond)
      : rate_(in_a_millisecond),
        most_(rate_ == 0 ? 0 : std::max(kKept * rate_, kLargestRepair)),
        left_(most_) {}

  // Whether there is time for so many, which are taken then.
  bool take(std::int64_t additions, Instant now) {
    const std::int64_t passed = (now - told_).to_milliseconds();
    if (passed > 0) {
      left_ = std::min(most_, left_ + std::min(passed, most_) * rate_);
      told_ = now;
    }
    if (additions > left_) return false;
    left_ -= additions;
    return true;
  }
  // What could not be known before: it is owed, and taken from what comes.
  void owe(std::int64_t additions) { left_ -= additions; }
  // The window has not needed so many of those that were taken.
  void give_back(std::int64_t additions) { left_ = std::min(most_, left_ + additions); }

 private:
  static constexpr std::int64_t kKept = 100;  // milliseconds
  static constexpr std::int64_t kLargestRepair = 4096;
  std::int64_t rate_;
  std::int64_t most_;
  std::int64_t left_;
  Instant told_;
};

// A tenth of a microsecond each: at most half of the time of a worker goes into solving, and half
// into sums.
inline constexpr Work kAdditionWork = 100;
inline constexpr std::int64_t kAdditionsInAMillisecond = 5000;
// To handle a frame of a packet that was given back: one repair may give back 160 packets.
inline constexpr Work kFrameWork = 250;

// A session's own part of such a time, and beside it what all may take who come first.
class PartOfTime {
 public:
  // `first_come`: nullptr: none. Outlives this.
  PartOfTime(std::int64_t own, RepairTime* first_come) : own_(own), first_come_(first_come) {}
  PartOfTime(const PartOfTime&) = delete;
  PartOfTime& operator=(const PartOfTime&) = delete;

  bool take(std::size_t additions, Instant now) {
    const auto count = static_cast<std::int64_t>(additions);
    if (own_.take(count, now)) {
      paying_ = &own_;
    } else if (first_come_ != nullptr && first_come_->take(count, now)) {
      paying_ = first_come_;
    } else {
      return false;
    }
    return true;
  }
  // More than was taken last, or less.
  void owe(std::size_t additions) { paying_->owe(static_cast<std::int64_t>(additions)); }
  void give_back(std::size_t additions) {
    paying_->give_back(static_cast<std::int64_t>(additions));
  }

 private:
  RepairTime own_;
  RepairTime* first_come_;
  RepairTime* paying_ = &own_;  // for what was taken last
};

// The sessions of a worker share this: half a core to solve and half a core to sum up, each half of
// it in equal parts and half for who comes first.
class SharedRepairs {
 public:
  // `call`: what one call of the engine may do, which its owner renews. Outlives this.
  SharedRepairs(std::size_t sessions, WorkBudget& call)
      : part_(sessions <= 1
                  ? kAdditionsInAMillisecond
                  : std::max<std::int64_t>(kFirstCome / static_cast<std::int64_t>(sessions), 1)),
        first_come_(sessions <= 1 ? 0 : kFirstCome),
        sums_first_come_(sessions <= 1 ? 0 : kFirstCome),
        call_(call) {}
  std::int64_t part() const { return part_; }
  RepairTime* first_come() { return &first_come_; }
  RepairTime* sums_first_come() { return &sums_first_come_; }
  WorkBudget& call() { return call_; }

 private:
  static constexpr std::int64_t kFirstCome = kAdditionsInAMillisecond / 2;
  std::int64_t part_;
  RepairTime first_come_;
  RepairTime sums_first_come_;
  WorkBudget& call_;
};

// One session has this. It spends its time to solve on repairs that it receives.
class RepairBudget {
 public:
  // nullptr: it shares with none, and a call may take as long as it will.
  explicit RepairBudget(SharedRepairs* shared = nullptr)
      : shared_(shared),
        solving_(shared == nullptr ? kAdditionsInAMillisecond : shared->part(),
                 shared == nullptr ? nullptr : shared->first_come()),
        summing_(shared == nullptr ? kAdditionsInAMillisecond : shared->part(),
                 shared == nullptr ? nullptr : shared->sums_first_come()) {}
  RepairBudget(const RepairBudget&) = delete;
  RepairBudget& operator=(const RepairBudget&) = delete;

  // Nothing is owed.
  bool has_time(Instant now) { return solving_.take(0, now); }
  // Whether there is time for so many, which are taken then.
  bool take(std::size_t additions, Instant now) {
    if (!solving_.take(additions, now)) return false;
    count_work(additions);
    return true;
  }
  // What could not be known before.
  void spend(std::size_t additions) {
    solving_.owe(additions);
    count_work(additions);
  }
  // The same for what is sent: the sums of a window's repairs, of which the rest is given back when
  // it ends.
  PartOfTime& sums() { return summing_; }
  // Frames of packets that were given back.
  void count_frames(std::uint64_t frames) {
    if (shared_ != nullptr) shared_->call().spend(frames * kFrameWork);
  }
  // The call has done enough: what is left waits for the next.
  bool call_is_spent() const { return shared_ != nullptr && shared_->call().is_spent(); }

 private:
  void count_work(std::size_t additions) {
    if (shared_ != nullptr) shared_->call().spend(additions * kAdditionWork);
  }

  SharedRepairs* shared_;
  PartOfTime solving_;
  PartOfTime summing_;
};

}  // namespace satrelay::stp
