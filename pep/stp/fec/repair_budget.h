// Limits the time for repairs. The unit of time is the addition of one symbol to another. Without a
// limit, a peer could keep a core busy with repairs that recover little, and so could the repairs
// that we send to hundreds of peers with lossy paths. Both codes of a session share the budget, and
// all sessions of a worker share a part of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/work_budget.h"

namespace satrelay::stp {

// A budget that grows by a fixed number of additions per millisecond. It holds at most the
// additions of a tenth of a second, but at least enough for one repair of a whole window.
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
  // Charges the budget for additions that were not known in advance. If the budget becomes
  // negative, nothing can be taken until it has grown again.
  void owe(std::int64_t additions) { left_ -= additions; }
  // Gives back the time for additions that were taken, but not needed.
  void give_back(std::int64_t additions) { left_ = std::min(most_, left_ + additions); }

 private:
  static constexpr std::int64_t kKept = 100;  // milliseconds
  static constexpr std::int64_t kLargestRepair = 4096;
  std::int64_t rate_;
  std::int64_t most_;
  std::int64_t left_;
  Instant told_;
};

// An addition takes a tenth of a microsecond. A worker may use half of its time to solve the
// equations of received repairs, and half to calculate the sums of repairs to send.
inline constexpr Work kAdditionWork = 100;
inline constexpr std::int64_t kAdditionsInAMillisecond = 5000;
// The work for one frame of a recovered packet. One repair may recover 160 packets.
inline constexpr Work kFrameWork = 250;

// The time that one session may use. A session uses its own part first. When that is used up, it
// takes time from the part that all sessions share, as long as time is left there.
class PartOfTime {
 public:
  // `first_come` is the shared part; nullptr if there is none. It must outlive this object.
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
  // Call owe() if the work needed more time than the last take() has taken, and give_back() if it
  // needed less.
  void owe(std::size_t additions) { paying_->owe(static_cast<std::int64_t>(additions)); }
  void give_back(std::size_t additions) {
    paying_->give_back(static_cast<std::int64_t>(additions));
  }

 private:
  RepairTime own_;
  RepairTime* first_come_;
  RepairTime* paying_ = &own_;  // the part from which the last take() has taken time
};

// The time that the sessions of a worker share: half a core to solve equations, and half a core for
// sums. One half of each is divided equally among the sessions. The other half is available to any
// session, first come, first served.
class SharedRepairs {
 public:
  // `call` is the work that one call of the engine may do. The owner of `call` renews it for each
  // call. `call` must outlive this object.
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

// The budget of a session that does not share one. All calls at the same instant together get the
// budget of one call. So the packets of one instant cause the same work in one call as in several.
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
  // If `shared` is nullptr, the session has its own budget, and a single call has no limit.
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
  // Charges the budget for additions that were not known in advance.
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
  // Whether the work of this call is used up. Further work must then wait for the next call.
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
