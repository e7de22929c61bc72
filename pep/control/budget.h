// Limits what packets of one kind may take of a link. Others cause these packets, and they wait in
// no class: answers to pings, to ARP, to HELLOs. A budget has a rate. It lends at once what it
// earns in 250 ms, or `least` octets if that is more.
//
// A claim of the first order may use all of it, any other claim one half. So a flood from unknown
// sources leaves room for known ones. Several budgets may draw on one budget in common.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

class Budget {
 public:
  enum class Claim : std::uint8_t { kFirst, kOther };

  // `all`: the budget that this one and others have in common; must outlive it.
  explicit Budget(ByteCount least, Budget* all = nullptr) : least_(least), all_(all) {
    set_rate(BitRate::bits_per_second(1), Instant());
  }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // A debt stays the same in octets.
  void set_rate(BitRate rate, Instant now) {
    rate = std::max(rate, BitRate::bits_per_second(1));
    if (rate == rate_) return;
    if (owed_until_ > now) owed_until_ = now + rate.time_for(rate_.bytes_in(owed_until_ - now));
    rate_ = rate;
    // Times are rounded up, also the times of packets that together have `least` octets.
    depth_ = std::max(kFill, rate.time_for(least_) + Duration::microseconds(1));
  }
  BitRate rate() const { return rate_; }

  // Whether a packet may leave. A packet that is longer than what the budget lends may leave alone
  // if nothing is owed. Its claim must be of the first order, or it must have at most `least` / 2
  // octets.
  bool allows(ByteCount size, Claim claim, Instant now) const {
    return fits(size, claim, now) && (all_ == nullptr || all_->fits(size, claim, now));
  }
  // A packet leaves.
  void debit(ByteCount size, Instant now) {
    owed_until_ = later(owed_until_, now) + rate_.time_for(size);
    on_left(size, now);
  }
  // Whether the budget earns `size` in a second.
  bool earns_in_a_second(ByteCount size) const {
    return rate_.time_for(size) <= Duration::seconds(1);
  }
  // Books a place behind all that is booked, for a packet that waits. Returns when the packet may
  // leave. The caller must call on_left() when it leaves.
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

// The place of one of many users that share a budget and may all wait. Places are given out in
// order. So each user gets a place in the end, and asks only when its place has come.
class BudgetPlace {
 public:
  // Whether the packet may leave now. Books a place if there is none. Without a budget the packet
  // may leave.
  bool has_come(Budget* budget, ByteCount size, Instant now) {
    if (budget == nullptr) return true;
    if (at_.is_never()) {
      at_ = budget->book(size, now);
    } else if (rate_ != budget->rate() && at_ > now) {
      // The place was booked in octets.
      at_ = now + budget->rate().time_for(rate_.bytes_in(at_ - now));
    }
    rate_ = budget->rate();
    return now >= at_;
  }
  // The packet leaves.
  void use(Budget* budget, ByteCount size, Instant now) {
    at_ = Instant::never();
    if (budget != nullptr) budget->on_left(size, now);
  }
  // When to ask again; the beginning of time if no place is booked, or if it was booked at another
  // rate.
  Instant at(const Budget* budget) const {
    const bool holds = budget == nullptr || budget->rate() == rate_;
    return at_.is_never() || !holds ? Instant() : at_;
  }

 private:
  Instant at_ = Instant::never();
  BitRate rate_;  // at which the place was booked
};

}  // namespace satrelay::control
