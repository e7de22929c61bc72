// Limits the share of a link that packets of one kind may use. It is for packets that outsiders
// cause (replies to pings, to ARP, to HELLOs) and that do not wait in the queue of a traffic class.
// A budget earns octets at its rate. It lends octets before it has earned them: at most the octets
// that it earns in 250 ms, or `least` octets if that is more.
//
// A claim of kind kFirst may use the whole loan, any other claim half of it. So a flood from
// unknown sources leaves octets for known sources. Several budgets may also be charged to one
// common budget.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

class Budget {
 public:
  enum class Claim : std::uint8_t { kFirst, kOther };

  // `all` is a budget that several budgets have in common. It must outlive them.
  explicit Budget(ByteCount least, Budget* all = nullptr) : least_(least), all_(all) {
    set_rate(BitRate::bits_per_second(1), Instant());
  }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Changes the rate. A debt stays the same in octets.
  void set_rate(BitRate rate, Instant now) {
    rate = std::max(rate, BitRate::bits_per_second(1));
    if (rate == rate_) return;
    if (owed_until_ > now) owed_until_ = now + rate.time_for(rate_.bytes_in(owed_until_ - now));
    rate_ = rate;
    // Adds a microsecond, because the time of each packet is rounded up. Otherwise several packets
    // with `least` octets in total might not fit.
    depth_ = std::max(kFill, rate.time_for(least_) + Duration::microseconds(1));
  }
  BitRate rate() const { return rate_; }

  // Whether a packet may be sent now. If nothing is owed, a single packet may exceed the loan: with
  // claim kFirst at any size, with another claim if it has at most `least` / 2 octets.
  bool allows(ByteCount size, Claim claim, Instant now) const {
    return fits(size, claim, now) && (all_ == nullptr || all_->fits(size, claim, now));
  }
  // Charges a packet that is sent now.
  void debit(ByteCount size, Instant now) {
    owed_until_ = later(owed_until_, now) + rate_.time_for(size);
    on_left(size, now);
  }
  // Whether the budget earns `size` within a second.
  bool earns_in_a_second(ByteCount size) const {
    return rate_.time_for(size) <= Duration::seconds(1);
  }
  // Books the octets of a waiting packet after all octets that were booked before. Returns when the
  // packet may be sent. The caller must call on_left() when it sends the packet.
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

// The turn of one of many users that wait for a common budget. Turns come in the order in which
// they were booked. So no user starves, and a user asks the budget only when its turn has come.
class BudgetPlace {
 public:
  // Whether the packet may be sent now. Books a turn if none is booked. Without a budget, the
  // packet may always be sent.
  bool has_come(Budget* budget, ByteCount size, Instant now) {
    if (budget == nullptr) return true;
    if (at_.is_never()) {
      at_ = budget->book(size, now);
    } else if (rate_ != budget->rate() && at_ > now) {
      // The turn was booked in octets, so the remaining time depends on the new rate.
      at_ = now + budget->rate().time_for(rate_.bytes_in(at_ - now));
    }
    rate_ = budget->rate();
    return now >= at_;
  }
  // Gives up the turn, because the packet is sent now.
  void use(Budget* budget, ByteCount size, Instant now) {
    at_ = Instant::never();
    if (budget != nullptr) budget->on_left(size, now);
  }
  // When to call has_come() again. Returns Instant(), which means at once, if no turn is booked or
  // if the rate of the budget has changed since the last call.
  Instant at(const Budget* budget) const {
    const bool holds = budget == nullptr || budget->rate() == rate_;
    return at_.is_never() || !holds ? Instant() : at_;
  }

 private:
  Instant at_ = Instant::never();
  BitRate rate_;  // the budget's rate at the last call of has_come()
};

}  // namespace satrelay::control
