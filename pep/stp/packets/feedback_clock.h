// When to report: on a clock while there is something to report, and at once on events, within the
// return budget (docs/stp.md section 7). Knows nothing of what stands in a report.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

class FeedbackClock {
 public:
  struct Config {
    Duration minimum = Duration::milliseconds(25);
    Duration maximum = Duration::milliseconds(600);
    BitRate budget = BitRate::bits_per_second(50'000);
    FeedbackMode mode = FeedbackMode::kAdaptive;
  };
  explicit FeedbackClock(const Config& config) : config_(config) {}

  void set_maximum(Duration maximum) {
    maximum_ = std::clamp(maximum, config_.minimum, config_.maximum);
  }
  // A packet that wants to be reported arrived.
  void on_arrival() { reports_due_ = repeats_; }
  // In how many reports each arrival shall stand.
  void set_repeats(int repeats) { repeats_ = repeats; }
  int repeats() const { return is_dear() ? std::min(repeats_, kLeastRepeats) : repeats_; }
  // A gap will be certain at `when`, if nothing fills it. The modes of the papers wait for their
  // clock; so do dear reports: sent at once they would use up the budget, regular ones come late,
  // and as each begins where an older regular one ended, all grow longer and dearer.
  void on_gap(Instant when) {
    if (config_.mode == FeedbackMode::kAdaptive && !is_dear()) on_urgent(when);
  }
  void on_urgent(Instant when) { urgent_at_ = earlier(urgent_at_, when); }
  // The peer asked: answered whatever the budget says, since it asks seldom.
  void on_asked() {
    asked_ = true;
    reports_due_ = std::max(reports_due_, 2);
  }

  // When the next report is due; never() if there is nothing to tell.
  Instant due() const {
    if (in_progress_ || asked_) return last_;
    Instant at = Instant::never();
    // What was sent at once is made up for, though never beyond the longest interval.
    if (reports_due_ > 0) at = later(last_ + interval(), earlier(spent_until_, last_ + maximum_));
    if (!urgent_at_.is_never()) {
      at = earlier(at, later(urgent_at_, spent_until_ - kBurst));
    }
    return at;
  }
  // Regular reports keep to the budget by their distance.
  Duration interval() const {
    switch (config_.mode) {
      case FeedbackMode::kHpfp:
        return kHpfpInterval;
      case FeedbackMode::kMNack:
        return maximum_;
      case FeedbackMode::kAdaptive:
        break;
    }
    return std::clamp(report_time_, config_.minimum, maximum_);
  }
  // `bytes` of report left, as IP bytes; `complete` if no part is missing.
  void on_report(std::size_t bytes, bool complete, Instant now) {
    current_bytes_ += bytes;
    debit(bytes, now);
    in_progress_ = !complete;
    if (!complete) return;
    report_bytes_ = current_bytes_;
    report_time_ = config_.budget.time_for(ByteCount(current_bytes_));
    current_bytes_ = 0;
    last_ = now;
    urgent_at_ = Instant::never();
    asked_ = false;
    if (reports_due_ > 0) --reports_due_;
  }
  // Credit frames draw on the same budget.
  void debit(std::size_t bytes, Instant now) {
    const Duration time = config_.budget.time_for(ByteCount(bytes));
    if (time.is_infinite()) return;
    spent_until_ = earlier(later(spent_until_, now) + time, now + maximum_ + kBurst);
  }

 private:
  static constexpr int kLeastRepeats = 3;
  // Longer than a packet, and more than half of what the budget pays for in the shortest interval.
  bool is_dear() const { return report_bytes_ > kPacket && report_time_ * 2 > config_.minimum; }
  static constexpr std::size_t kPacket = 1500;
  // HpFP, section on its acknowledgements.
  static constexpr Duration kHpfpInterval = Duration::milliseconds(200);
  // How far immediate reports may run ahead of the budget.
  static constexpr Duration kBurst = Duration::milliseconds(100);
  Config config_;
  Duration maximum_ = config_.maximum;
  int repeats_ = kLeastRepeats;
  int reports_due_ = 0;
  bool in_progress_ = false;
  bool asked_ = false;
  Instant urgent_at_ = Instant::never();
  // The first report of a session is due at once.
  Instant last_ = Instant::from_nanoseconds(0) - Duration::seconds(3600);
  Instant spent_until_;
  Duration report_time_;          // of the last report, at the budget's rate
  std::size_t report_bytes_ = 0;  // of the last one
  std::size_t current_bytes_ = 0;
};

}  // namespace satrelay::stp
