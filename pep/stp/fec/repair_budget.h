// Limits the time for repairs, counted in additions of one symbol to another. A peer with the right
// keys must not keep a core busy with repairs that cost much and recover little. The repairs that
// we send to hundreds of peers with lossy paths must not keep a core busy either. Both codes of a
// session share the budget, and so do all sessions of a worker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/work_budget.h"

namespace satrelay::stp {

// A number of additions per millisecond. Unused time is saved up to a tenth of a second, or up to
// one repair of a whole window if that takes longer.
class RepairTime {
 public:
  explicit RepairTime(std::int64_t in_a_millisecond)
      : rate_(in_a_millisecond),
        most_(rate_ == 0 ? 0 : std::max(kKept * rate_, kLargestRepair)),
        left_(most_) {}

  // Takes the time for `additions`. Returns false, and takes none, if there is not enough.
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
  // Takes time for additions that were not known in advance. The remaining time may become
  // negative. Later time then makes up for it.
  void owe(std::int64_t additions) { left_ -= additions; }
  // Returns the time for additions that a window took, but did not need.
  void give_back(std::int64_t additions) { left_ = std::min(most_, left_ + additions); }

 private:
  static constexpr std::int64_t kKept = 100;  // milliseconds
  static constexpr std::int64_t kLargestRepair = 4096;
  std::int64_t rate_;
  std::int64_t most_;
  std::int64_t left_;
  Instant told_;
};

// An addition takes a tenth of a microsecond. At most half of a worker's time is for solving the
// equations of received repairs, and half for the sums of repairs to send.
inline constexpr Work kAdditionWork = 100;
inline constexpr std::int64_t kAdditionsInAMillisecond = 5000;
// The work for one frame of a recovered packet. One repair may recover 160 packets.
inline constexpr Work kFrameWork = 250;

// The time of one session: a part of its own, and a part that all sessions share, first come, first
// served.
class PartOfTime {
 public:
  // `first_come` is the shared part, which must outlive this object; nullptr if there is none.
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
  // Call owe() if the work needed more than the last take(), and give_back() if it needed less.
  void owe(std::size_t additions) { paying_->owe(static_cast<std::int64_t>(additions)); }
  void give_back(std::size_t additions) {
    paying_->give_back(static_cast<std::int64_t>(additions));
  }

 private:
  RepairTime own_;
  RepairTime* first_come_;
  RepairTime* paying_ = &own_;  // the part that paid for the last take()
};

// The time that the sessions of a worker share: half a core for solving, and half a core for sums.
// Half of each is divided equally among the sessions. The other half is first come, first served.
class SharedRepairs {
 public:
  // `call` is the work that one call of the engine may do. Its owner renews it, and it must outlive
  // this object.
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

// The budget of a session that shares none. All its calls at the same instant share the budget of
// one call. So it makes no difference into how many calls the packets of one instant are divided.
class OwnRepairs {
 public:
  SharedRepairs& shared() { return shared_; }
  void begin_call(Instant now) {
    if (now != at_) renew(now);
  }
  // Grants a new budget, even at the same instant.
  void renew(Instant now) {
    at_ = now;
    call_.renew();
  }

 private:
  Instant at_ = Instant::never();
  WorkBudget call_;
  SharedRepairs shared_{1, call_};
};

// The budget of one session, for received repairs and for sums.
class RepairBudget {
 public:
  // If `shared` is nullptr, the session shares with no other session, and its calls have no limit.
  explicit RepairBudget(SharedRepairs* shared = nullptr)
      : shared_(shared),
        solving_(shared == nullptr ? kAdditionsInAMillisecond : shared->part(),
                 shared == nullptr ? nullptr : shared->first_come()),
        summing_(shared == nullptr ? kAdditionsInAMillisecond : shared->part(),
                 shared == nullptr ? nullptr : shared->sums_first_come()) {}
  RepairBudget(const RepairBudget&) = delete;
  RepairBudget& operator=(const RepairBudget&) = delete;

  // Whether the time for solving is not negative.
  bool has_time(Instant now) { return solving_.take(0, now); }
  // Takes the time for `additions`. Returns false, and takes none, if there is not enough.
  bool take(std::size_t additions, Instant now) {
    if (!solving_.take(additions, now)) return false;
    count_work(additions);
    return true;
  }
  // Takes time for additions that were not known in advance.
  void spend(std::size_t additions) {
    solving_.owe(additions);
    count_work(additions);
  }
  // The time for the sums of repairs to send. A window takes the time for all its sums when it
  // begins, and returns the rest when it ends.
  PartOfTime& sums() { return summing_; }
  // Counts the work for frames of recovered packets.
  void count_frames(std::uint64_t frames) {
    if (shared_ != nullptr) shared_->call().spend(frames * kFrameWork);
  }
  // Whether the call has done enough, so that further work must wait for the next call.
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
