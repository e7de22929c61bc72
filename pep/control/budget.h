// What packets of one kind may take of a link, packets that others cause and that wait in no class:
// answers to pings, to ARP, to HELLOs. A budget has a rate, and lends so much at once as it earns
// in 250 ms, or `least` octets where that is more.
//
// A claim of the first order may use all of it, any other one half: so whoever floods from
// somewhere leaves room for those that are known. Budgets may have one budget in common, on which
// each draws.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

class Budget {
 public:
  enum class Claim : std::uint8_t { kFirst, kOther };

  // `all`: what this one and others have in common; outlives it.
  explicit Budget(ByteCount least, Budget* all = nullptr) : least_(least), all_(all) {
    set_rate(BitRate::bits_per_second(1), Instant());
  }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // What is owed is owed in octets.
  void set_rate(BitRate rate, Instant now) {
    rate = std::max(rate, BitRate::bits_per_second(1));
    if (rate == rate_) return;
    if (owed_until_ > now) owed_until_ = now + rate.time_for(rate_.bytes_in(owed_until_ - now));
    rate_ = rate;
    // Times are rounded up, those of its parts too.
    depth_ = std::max(kFill, rate.time_for(least_) + Duration::microseconds(1));
  }
  BitRate rate() const { return rate_; }

  // Whether a packet may leave. One that is longer than what the budget lends may leave alone, when
  // nothing is owed, if its claim is of the first order or it has at most `least` / 2 octets.
  bool allows(ByteCount size, Claim claim, Instant now) const {
    return fits(size, claim, now) && (all_ == nullptr || all_->fits(size, claim, now));
  }
  // One leaves.
  void debit(ByteCount size, Instant now) {
    owed_until_ = later(owed_until_, now) + rate_.time_for(size);
    on_left(size, now);
  }
  // Whether the budget earns so much in a second.
  bool earns_in_a_second(ByteCount size) const {
    return rate_.time_for(size) <= Duration::seconds(1);
  }
  // A place behind all that is booked, for a packet that waits for it: when it may leave, which
  // on_left() is to tell.
  Instant book(ByteCount size, Instant now) {
    const Duration time = rate_.time_for(size);
    const Instant free = later(owed_until_, now);
    owed_until_ = free + time;
    return later(now, earlier(free, owed_until_ - depth_));
  }
  void on_left(ByteCount size, Instant now) {
    if (all_ != nullptr) all_->debit(size, now);
  }

 private:
  static constexpr Duration kFill = Duration::milliseconds(250);

  bool fits(ByteCount size, Claim claim, Instant now) const {
    const Duration part = claim == Claim::kFirst ? depth_ : depth_ / 2;
    if (later(owed_until_, now) + rate_.time_for(size) <= now + part) return true;
    return owed_until_ <= now && (claim == Claim::kFirst || size.value() * 2 <= least_.value());
  }

  ByteCount least_;
  Budget* all_;
  BitRate rate_;
  Duration depth_;
  Instant owed_until_;
};

// One of many that share a budget and may all wait: places are given out in order, so that each has
// one in the end, and nobody asks before its place has come.
class BudgetPlace {
 public:
  // Whether the packet may leave now; a place is booked if there is none. Without a budget it may.
  bool has_come(Budget* budget, ByteCount size, Instant now) {
    if (budget == nullptr) return true;
    if (at_.is_never()) {
      at_ = budget->book(size, now);
    } else if (rate_ != budget->rate() && at_ > now) {
      // What was booked was booked in octets.
      at_ = now + budget->rate().time_for(rate_.bytes_in(at_ - now));
    }
    rate_ = budget->rate();
    return now >= at_;
  }
  // It leaves.
  void use(Budget* budget, ByteCount size, Instant now) {
    at_ = Instant::never();
    if (budget != nullptr) budget->on_left(size, now);
  }
  // When to ask again; the beginning of time if no place is booked, or for another rate.
  Instant at(const Budget* budget) const {
    const bool holds = budget == nullptr || budget->rate() == rate_;
    return at_.is_never() || !holds ? Instant() : at_;
  }

 private:
  Instant at_ = Instant::never();
  BitRate rate_;  // for which it was booked
};

}  // namespace satrelay::control
