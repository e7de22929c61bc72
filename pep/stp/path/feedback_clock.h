// Decides when to send reports: regularly while there is something to report, and at once after
// certain events, within the budget of the return link (docs/stp.md section 7). This class does not
// know the content of reports.
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
    // Limits how much of the carrier the reports of all its sessions may use. nullptr means no
    // limit.
    ReportBudget* shared = nullptr;
  };
  // The longest interval between reports if the link is narrow (is_narrow()).
  static constexpr Duration kLongest = Duration::seconds(2);

  explicit FeedbackClock(const Config& config) : config_(config) {
    if (config.shared != nullptr) shared_time_ = config.shared->time_for(kLeastReport);
  }

  Duration minimum() const { return config_.minimum; }
  void set_maximum(Duration maximum) {
    maximum_ = std::clamp(maximum, config_.minimum, config_.maximum);
  }
  // A packet has arrived that asks for a report.
  void on_arrival() {
    reports_due_ = repeats();
    arrived_meanwhile_ = arrived_meanwhile_ || in_progress_;
  }
  // Sets the number of reports that should contain each arrival.
  void set_repeats(int repeats) { repeats_ = repeats; }
  // The number of reports that contain each arrival. It is 1 if the shared budget does not even
  // allow one report per round trip. If that report is lost, the peer asks for its content.
  int repeats() const {
    if (shared_time_ > maximum_) return 1;
    return is_dear() ? std::min(repeats_, kLeastRepeats) : repeats_;
  }
  // A gap counts as a loss at `when`, if no packet fills it until then. Requests a report at that
  // time. In the modes kHpfp and kMNack, the gap waits for the next regular report. The same holds
  // if reports are expensive (is_dear()). Otherwise, additional reports would use up the budget,
  // and regular reports would be late. A report covers all packets since an older regular report.
  // So late regular reports would make all reports longer and more expensive.
  void on_gap(Instant when) {
    if (config_.mode == FeedbackMode::kAdaptive && !is_dear()) on_urgent(when);
  }
  void on_urgent(Instant when) { urgent_at_ = earlier(urgent_at_, when); }
  // The peer has asked for a report. This report may exceed the budget of the session, since the
  // peer rarely asks.
  void on_asked() {
    asked_ = true;
    reports_due_ = std::max(reports_due_, 2);
  }

  // Whether the link is narrow. On a narrow link, the budget of the carrier does not suffice for a
  // report per Config::minimum.
  bool is_narrow() const { return shared_time_ > config_.minimum; }
  // Whether some arrival must be in further reports.
  bool has_news() const { return reports_due_ > 0; }
  // When credit may be sent in a packet of its own.
  Instant credits_at() const {
    return is_narrow() ? earlier(config_.shared->spent_until() - kBurst, last_ + kLongest)
                       : Instant();
  }

  // When frames that are not urgent may be sent. They wait until the reports of all sessions leave
  // enough of the shared budget.
  Instant questions_at() const {
    return config_.shared == nullptr ? Instant() : config_.shared->spent_until() - kBurst;
  }

  // When the next report is due; never() if there is nothing to report.
  Instant due() const {
    if (in_progress_) return last_;
    // The peer probes a silent path every 100 ms, and asks for a report each time. On a narrow link
    // one report per round trip is enough.
    if (asked_) return is_narrow() ? last_ + std::min(shared_time_, maximum_) : last_;
    Instant at = Instant::never();
    // If immediate reports have overdrawn the budget, a regular report waits until the budget has
    // recovered, but not longer than maximum_.
    if (reports_due_ > 0) at = later(last_ + interval(), earlier(spent_until_, last_ + maximum_));
    if (!urgent_at_.is_never()) {
      at = earlier(at, later(urgent_at_, spent_until_ - kBurst));
    }
    if (config_.shared == nullptr) return at;
    return later(at, earlier(config_.shared->spent_until() - kBurst, last_ + kLongest));
  }
  // The interval of regular reports. It is long enough for the budget of the session and for the
  // shared budget.
  Duration interval() const { return std::max(of_mode(), std::min(shared_time_, kLongest)); }
  // Returns the interval that the current report should announce. If other sessions have overdrawn
  // the shared budget, the interval is longer by the time until the budget has recovered. The next
  // report is usually sent within this interval.
  Duration tell_interval(Instant now) {
    told_interval_ = next_interval(now);
    return told_interval_;
  }
  // The interval that the last report has announced, or the current interval if that is longer.
  Duration told_interval() const { return std::max(told_interval_, interval()); }
  // A part of a report was sent. `complete` says whether it was the last part.
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
    // If packets arrived after the first part was sent, the report may lack them, so it does not
    // count.
    if (reports_due_ > 0 && !arrived_meanwhile_) --reports_due_;
    arrived_meanwhile_ = false;
  }
  // Charges a report to the budget of this session and to the shared budget. To be called for
  // credit frames, too.
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
  // Assumed size of a report before the first report was sent, including headers, in bytes.
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
  // Whether reports are expensive: the last report was longer than a packet, and cost more than
  // half of the bytes that the session's budget provides in the time Config::minimum.
  bool is_dear() const { return report_bytes_ > kPacket && report_time_ * 2 > config_.minimum; }
  static constexpr std::size_t kPacket = 1500;
  // From the section on acknowledgments in the HpFP paper.
  static constexpr Duration kHpfpInterval = Duration::milliseconds(200);
  // Immediate reports may overdraw the budget by the amount for this time.
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
  Duration report_time_;  // time in which the budget provides the cost of the last report
  Duration shared_time_;  // time in which the shared budget provides the cost of the last report
  std::size_t report_bytes_ = 0;  // size of the last report
  ReportCost current_;
  Duration told_interval_;
};

}  // namespace satrelay::stp
