// When to report: on a clock while there is something to report, and at once on events, within the
// return budget (docs/stp.md section 7). This class does not know the content of reports.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/stp/path/report_budget.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

class FeedbackClock {
 public:
  struct Config {
    Duration minimum = Duration::milliseconds(25);
    Duration maximum = Duration::milliseconds(600);
    BitRate budget = BitRate::bits_per_second(50'000);
    FeedbackMode mode = FeedbackMode::kAdaptive;
    // The part of the carrier that reports may take, shared with other sessions; nullptr: no limit.
    ReportBudget* shared = nullptr;
  };
  // The longest interval between reports on a carrier with so little room for them.
  static constexpr Duration kLongest = Duration::seconds(2);

  explicit FeedbackClock(const Config& config) : config_(config) {
    if (config.shared != nullptr) shared_time_ = config.shared->time_for(kLeastReport);
  }

  Duration minimum() const { return config_.minimum; }
  void set_maximum(Duration maximum) {
    maximum_ = std::clamp(maximum, config_.minimum, config_.maximum);
  }
  // An eliciting packet has arrived.
  void on_arrival() {
    reports_due_ = repeats();
    arrived_meanwhile_ = arrived_meanwhile_ || in_progress_;
  }
  // The number of reports that each arrival shall stand in.
  void set_repeats(int repeats) { repeats_ = repeats; }
  // If the shared budget does not even pay for one report a round trip, each arrival stands in one
  // report. If that is lost, the peer asks for its content.
  int repeats() const {
    if (shared_time_ > maximum_) return 1;
    return is_dear() ? std::min(repeats_, kLeastRepeats) : repeats_;
  }
  // A gap will be certain at `when`, if nothing fills it. The modes of the papers wait for their
  // clock. So do dear reports. If they were sent at once, they would use up the budget, and regular
  // reports would come late. Each report begins where an older regular one ended, so all would grow
  // longer and dearer.
  void on_gap(Instant when) {
    if (config_.mode == FeedbackMode::kAdaptive && !is_dear()) on_urgent(when);
  }
  void on_urgent(Instant when) { urgent_at_ = earlier(urgent_at_, when); }
  // The peer has asked. The answer leaves whatever the budget says, since the peer asks seldom.
  void on_asked() {
    asked_ = true;
    reports_due_ = std::max(reports_due_, 2);
  }

  // Whether the carrier has so little room that reports are further apart than they should be.
  bool is_narrow() const { return shared_time_ > config_.minimum; }
  // Whether something has stood in fewer reports than it shall.
  bool has_news() const { return reports_due_ > 0; }
  // When credits may leave in a packet of their own.
  Instant credits_at() const {
    return is_narrow() ? earlier(config_.shared->spent_until() - kBurst, last_ + kLongest)
                       : Instant();
  }

  // When the reports of all sessions leave room for frames that can wait.
  Instant questions_at() const {
    return config_.shared == nullptr ? Instant() : config_.shared->spent_until() - kBurst;
  }

  // When the next report is due; never() if there is nothing to report.
  Instant due() const {
    if (in_progress_) return last_;
    // The peer probes a silent path each 100 ms. One answer a round trip is enough where reports
    // are dear.
    if (asked_) return is_narrow() ? last_ + std::min(shared_time_, maximum_) : last_;
    Instant at = Instant::never();
    // The time that immediate reports have cost is made up for, but never beyond the longest
    // interval.
    if (reports_due_ > 0) at = later(last_ + interval(), earlier(spent_until_, last_ + maximum_));
    if (!urgent_at_.is_never()) {
      at = earlier(at, later(urgent_at_, spent_until_ - kBurst));
    }
    if (config_.shared == nullptr) return at;
    return later(at, earlier(config_.shared->spent_until() - kBurst, last_ + kLongest));
  }
  // The interval of regular reports. It keeps them within the budgets.
  Duration interval() const { return std::max(of_mode(), std::min(shared_time_, kLongest)); }
  // The interval that the report announces, with what other sessions have drawn ahead. As a rule
  // the following report comes no later.
  Duration tell_interval(Instant now) {
    told_interval_ = next_interval(now);
    return told_interval_;
  }
  // The interval that was announced last.
  Duration told_interval() const { return std::max(told_interval_, interval()); }
  // A part of a report has left; `complete`: it was the last part.
  void on_report(const ReportCost& cost, bool complete, Instant now) {
    current_.bytes += cost.bytes;
    current_.carried += cost.carried;
    debit(cost, now);
    in_progress_ = !complete;
    if (!complete) return;
    report_bytes_ = current_.bytes;
    report_time_ = config_.budget.time_for(ByteCount(current_.bytes));
    if (config_.shared != nullptr) shared_time_ = config_.shared->time_for(current_.carried);
    current_ = {};
    last_ = now;
    urgent_at_ = Instant::never();
    asked_ = false;
    // Packets that came between the parts may not be in the report.
    if (reports_due_ > 0 && !arrived_meanwhile_) --reports_due_;
    arrived_meanwhile_ = false;
  }
  // Credit frames draw on the same budget.
  void debit(const ReportCost& cost, Instant now) {
    if (config_.shared != nullptr) config_.shared->debit(cost.carried, now);
    const Duration time = config_.budget.time_for(ByteCount(cost.bytes));
    if (time.is_infinite()) return;
    spent_until_ = earlier(later(spent_until_, now) + time, now + maximum_ + kBurst);
  }

 private:
  Duration next_interval(Instant now) const {
    if (!is_narrow()) return interval();
    const Duration drawn =
        std::max(Duration::zero(), config_.shared->spent_until() - kBurst - now) + shared_time_;
    return std::max(of_mode(), std::min(drawn, kLongest));
  }
  // Assumed size of the first report, with its headers. Unit: bytes.
  static constexpr std::size_t kLeastReport = 100;
  Duration of_mode() const {
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
  static constexpr int kLeastRepeats = 3;
  // The report is longer than a packet, and costs more than half of the budget in the shortest
  // interval.
  bool is_dear() const { return report_bytes_ > kPacket && report_time_ * 2 > config_.minimum; }
  static constexpr std::size_t kPacket = 1500;
  // HpFP, section on its acknowledgments.
  static constexpr Duration kHpfpInterval = Duration::milliseconds(200);
  // How far immediate reports may run ahead of the budget.
  static constexpr Duration kBurst = Duration::milliseconds(100);
  Config config_;
  Duration maximum_ = config_.maximum;
  int repeats_ = kLeastRepeats;
  int reports_due_ = 0;
  bool in_progress_ = false;
  bool arrived_meanwhile_ = false;  // packets have arrived since the first part of the report
  bool asked_ = false;
  Instant urgent_at_ = Instant::never();
  // The first report of a session is due at once.
  Instant last_ = Instant::from_nanoseconds(0) - Duration::seconds(3600);
  Instant spent_until_;
  Duration report_time_;          // time for the last report at the budget's rate
  Duration shared_time_;          // the same at the rate of the shared budget
  std::size_t report_bytes_ = 0;  // size of the last report
  ReportCost current_;
  Duration told_interval_;
};

}  // namespace satrelay::stp
