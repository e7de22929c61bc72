// Limits how much of a carrier the reports of all its sessions may use together. On a narrow return
// link, reports would otherwise leave nothing for the hosts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::stp {

struct ReportCost {
  std::size_t bytes = 0;    // IP bytes that were sent only because of the report
  std::size_t carried = 0;  // bytes on the link that were sent only because of the report
};

class ReportBudget {
 public:
  // Largest overdraft of the budget that is remembered.
  static constexpr Duration kMostOverdrawn = Duration::seconds(4);

  explicit ReportBudget(BitRate rate) : rate_(rate) {}
  void set_rate(BitRate rate, Instant now) {
    const ByteCount debt = rate_.bytes_in(std::max(Duration::zero(), spent_until_ - now));
    rate_ = rate;
    spent_until_ = earlier(now + rate.time_for(debt), now + kMostOverdrawn);
  }
  BitRate rate() const { return rate_; }

  Duration time_for(std::size_t bytes) const { return rate_.time_for(ByteCount(bytes)); }
  // To be called when reports were sent that take `bytes` bytes on the link.
  void debit(std::size_t bytes, Instant now) {
    debited_ += bytes;
    spent_until_ = earlier(later(spent_until_, now) + time_for(bytes), now + kMostOverdrawn);
  }
  Instant spent_until() const { return spent_until_; }
  std::uint64_t debited() const { return debited_; }  // all bytes debited so far

 private:
  BitRate rate_;
  std::uint64_t debited_ = 0;
  Instant spent_until_;
};

}  // namespace satrelay::stp
