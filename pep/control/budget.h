// Limits the share of a link that packets of one kind may use. It is for packets that outsiders
// cause (replies to pings, to ARP, to HELLOs) and that do not wait in the queue of a traffic class.
// A budget is a token bucket, with one token for each octet. Its depth is the number of tokens that
// it gets in 250 ms, or `least` if that is more.
//
// A packet with Claim::kFirst may use all tokens of a full bucket, other packets only the upper
// half. So a flood from unknown sources leaves tokens for known sources. Several budgets may also
// be charged to one common budget.
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

  // Changes the rate. The number of tokens that are missing in the bucket stays the same.
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

  // Whether a packet may be sent now. If the bucket is full, the next packet may have more octets
  // than there are tokens for it: with Claim::kFirst any number, and otherwise at most `least` / 2
  // octets.
  bool allows(ByteCount size, Claim claim, Instant now) const {
    return fits(size, claim, now) && (all_ == nullptr || all_->fits(size, claim, now));
  }
  // Charges a packet that is sent now.
  void debit(ByteCount size, Instant now) {
    owed_until_ = later(owed_until_, now) + rate_.time_for(size);
    on_left(size, now);
  }
  // Whether the budget gets tokens for `size` octets within a second.
  bool earns_in_a_second(ByteCount size) const {
    return rate_.time_for(size) <= Duration::seconds(1);
  }
  // Takes the tokens for a packet that has to wait until all earlier packets have their tokens.
  // Returns when the packet may be sent. The caller must call on_left() when it sends the packet.
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

// The place of one user in the queue for a common budget. The budget serves its users in the order
// in which they joined the queue. So no user starves, and a user calls the budget only when it is
// at the front of the queue.
class BudgetPlace {
 public:
  // Whether the packet may be sent now. Joins the queue if this user is not in it. Without a
  // budget, the packet may always be sent.
  bool has_come(Budget* budget, ByteCount size, Instant now) {
    if (budget == nullptr) return true;
    if (at_.is_never()) {
      at_ = budget->book(size, now);
    } else if (rate_ != budget->rate() && at_ > now) {
      // The packet still waits for the same number of tokens. They come at the new rate, so the
      // remaining time changes.
      at_ = now + budget->rate().time_for(rate_.bytes_in(at_ - now));
    }
    rate_ = budget->rate();
    return now >= at_;
  }
  // Leaves the queue, because the packet is sent now.
  void use(Budget* budget, ByteCount size, Instant now) {
    at_ = Instant::never();
    if (budget != nullptr) budget->on_left(size, now);
  }
  // When to call has_come() again. Returns Instant(), which means at once, if this user is not in
  // the queue, or if the rate of the budget has changed since the last call.
  Instant at(const Budget* budget) const {
    const bool holds = budget == nullptr || budget->rate() == rate_;
    return at_.is_never() || !holds ? Instant() : at_;
  }

 private:
  Instant at_ = Instant::never();
  BitRate rate_;  // the budget's rate at the last call of has_come()
};

}  // namespace satrelay::control
