#include "pep/stp/path/path.h"

#include <algorithm>

#include "pep/stp/numbers/received_packets.h"

namespace satrelay::stp {

namespace {

// The number of reports that must contain each packet, from 3 to kMaxRepeats. It is chosen so that
// all these reports are lost with a chance of at most 1e-5.
int repeats_for(double loss) {
  int repeats = 1;
  for (double residual = loss; residual > 1e-5 && repeats < int{ReceivedPackets::kMaxRepeats};
       ++repeats) {
    residual *= loss;
  }
  return std::max(repeats, 3);
}

}  // namespace

Path::Path(PathId name, const Config& config, const RateGate& unused, Instant now)
    : id(name),
      gate(unused),
      reports(config.mtu.maximum),
      probes(config.probes),
      mtu(config.mtu),
      rtt(config.initial_rtt),
      peer_feedback_interval(config.feedback.minimum),
      last_report(now),
      requests(now),
      feedback(config.feedback) {
  probes.start(now);
  update_rtt();
}

PathMtu::Doubt Path::doubt_of_large_packets(const SentLedger& ledger, Instant now) const {
  constexpr Duration kLate = Duration::milliseconds(50);
  const Duration late = std::min(kLate, rtt.smoothed()) + peer_feedback_interval * 2;
  if (!probes.is_quiet_for(late, now)) return PathMtu::Doubt::kNone;
  const SentPacket* first = first_unreported(ledger);
  if (first == nullptr) return PathMtu::Doubt::kNone;
  const Instant due = later(first->sent, probes.busy_since()) + rtt.smoothed();
  const Duration missing = rtt.smoothed() + peer_feedback_interval * 2;
  if (probes.is_quiet_for(missing, now) && now >= due + missing) return PathMtu::Doubt::kGrave;
  return now >= due + late ? PathMtu::Doubt::kSlight : PathMtu::Doubt::kNone;
}

PendingReport Path::begin_report(const FeedbackFrame& report, const SentLedger& ledger,
                                 Instant now) {
  PendingReport pending{.report = report};
  const SentPacket* const newest = ledger.find(report.highest);
  if (newest != nullptr && losses.is_unresolved(report.highest)) {
    pending.rtt = std::max(Duration::zero(), now - newest->sent - report_time(report.delay_us));
    rtt.on_sample(pending.rtt);
  }
  const auto interval_ms = std::min<std::uint64_t>(report.interval_ms, 60'000);
  peer_feedback_interval =
      std::clamp(Duration::milliseconds(static_cast<std::int64_t>(interval_ms)), feedback.minimum(),
                 Duration::seconds(60));
  update_rtt();
  note_outage(ledger, now);
  probes.on_report(now);
  return pending;
}

void Path::end_report(const PendingReport& pending, std::uint64_t repaired,
                      const SentLedger& ledger, Instant now) {
  const FeedbackFrame& report = pending.report;
  gate.on_report(report, ledger.find(report.highest),
                 {pending.rtt, now - last_report, pending.lateness}, now);
  last_report = now;
  // The path has lost the repaired packets, too.
  loss_rate.on_repaired(repaired);
  loss_rate.on_delivered(pending.delivered);
  // Reports share the path with our packets. So the more packets the path loses, the more reports
  // contain each arrival.
  feedback.set_repeats(repeats_for(loss_rate.ratio()));
  ask_for_missed_reports(report, now);
}

LossDetector::Rule Path::loss_rule(const FeedbackFrame& report, const SentLedger& ledger) {
  tolerance.set_lateness(std::min(report_time(report.late_us), ArrivalOrder::kMaxLateness));
  const Duration delay = report_time(report.delay_us);
  LossDetector::Rule rule;
  rule.uncertain =
      tolerance.first_uncertain(report.highest, delay, losses.oldest_unresolved(), ledger);
  rule.wait = std::max(Duration::zero(), tolerance.time() - delay);
  // If the path reorders packets, wait for one more report before packets are declared lost.
  if (!tolerance.keeps_order()) rule.wait = rule.wait + peer_feedback_interval;
  return rule;
}

std::uint64_t Path::count_losses(std::uint64_t packets, std::uint64_t at_peer) {
  loss_rate.on_lost(packets - at_peer);
  loss_rate.on_delivered(at_peer);
  const std::uint64_t too_large = mtu.take_too_large();
  loss_rate.on_excused(too_large);
  return too_large;
}

// The first unreported packet that asks for a report. Only the first 64 unreported packets are
// searched; nullptr if there is none.
const SentPacket* Path::first_unreported(const SentLedger& ledger) const {
  constexpr std::uint64_t kSearch = 64;
  const std::uint64_t begin = losses.frontier();
  for (std::uint64_t n = begin; n < ledger.next() && n - begin < kSearch; ++n) {
    const SentPacket* packet = ledger.find(n);
    if (packet != nullptr && packet->eliciting) return packet;
  }
  return nullptr;
}

}  // namespace satrelay::stp
