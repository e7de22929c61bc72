// One way between two gateways, both directions: its round trip, its largest datagram, whether it
// is silent, which packets it has lost, when its packets are reported, and the rate that it may
// have. A path numbers no packets: the numbers belong to the association, since the nonces of its
// keys are made of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/stp/numbers/sent_ledger.h"
#include "pep/stp/path/feedback_clock.h"
#include "pep/stp/path/gap_watch.h"
#include "pep/stp/path/loss_detector.h"
#include "pep/stp/path/loss_rate.h"
#include "pep/stp/path/path_id.h"
#include "pep/stp/path/path_mtu.h"
#include "pep/stp/path/probe_timer.h"
#include "pep/stp/path/rate_gate.h"
#include "pep/stp/path/reception.h"
#include "pep/stp/path/reorder_tolerance.h"
#include "pep/stp/path/report_backlog.h"
#include "pep/stp/path/report_requests.h"
#include "pep/stp/path/rtt_estimator.h"
#include "pep/stp/wire/feedback_frame.h"

namespace satrelay::stp {

struct Path {
  struct Config {
    PathMtu::Config mtu;
    ProbeTimer::Config probes;
    FeedbackClock::Config feedback;
    Duration initial_rtt;
  };

  // `unused`: a gate by which no packet of the association has left.
  Path(PathId name, const Config& config, const RateGate& unused, Instant now);

  void update_rtt() {
    probes.set_patience(rtt.smoothed(), peer_feedback_interval);
    feedback.set_maximum(rtt.smoothed());
  }
  // The time that credit granted now takes to bring bytes.
  Duration reach_of_credit() const { return rtt.smoothed() + feedback.told_interval(); }
  // The bytes that the path takes until a report on the first of them is here. Bytes that are lost
  // in the last flight come a round trip after all others, unless they are repaired.
  ByteCount flight() const {
    return gate.rate().bytes_in(rtt.smoothed() + peer_feedback_interval + tolerance.time());
  }
  // Packets lost in an outage say nothing about the link's loss. The rate and FEC stay as they
  // were.
  void note_outage(const SentLedger& ledger, Instant now) {
    if (probes.is_outage(rtt.smoothed(), now)) outage_end = ledger.next();
  }
  // The doubt about large packets. Reports are missing on packets that must have arrived long ago:
  // the path is silent, or large packets vanish.
  PathMtu::Doubt doubt_of_large_packets(const SentLedger& ledger, Instant now) const;
  // Asks for reports if all reports about some packets were lost.
  void ask_for_missed_reports(const FeedbackFrame& report, Instant now) {
    if (losses.oldest_unresolved() >= report.first) return;
    requests.on_missed(losses.newest_unresolved_below(report.first),
                       rtt.smoothed() + peer_feedback_interval * 2, now);
  }

  // A report about packets of this path has come. Learns what holds before the report is applied.
  PendingReport begin_report(const FeedbackFrame& report, const SentLedger& ledger, Instant now);
  // The report has been applied to all packets. `repaired`: so many of its packets were lost, and
  // calculated from repairs.
  void end_report(const PendingReport& pending, std::uint64_t repaired, const SentLedger& ledger,
                  Instant now);
  // Which of the packets that a report calls missing are lost, without regard to repairs.
  LossDetector::Rule loss_rule(const FeedbackFrame& report, const SentLedger& ledger);
  // So many packets were lost, and `at_peer` of them had reached the peer's port: the path has
  // carried those. Returns how many losses that were counted before were none: their packets were
  // too large.
  [[nodiscard]] std::uint64_t count_losses(std::uint64_t packets, std::uint64_t at_peer);

  PathId id;

  // The sending direction.
  RateGate gate;
  LossDetector losses;
  ReportBacklog reports;
  ReorderTolerance tolerance;
  LossRate loss_rate;
  ProbeTimer probes;
  PathMtu mtu;
  RttEstimator rtt;
  std::uint64_t outage_end = 0;  // packets below were sent before the last outage was over
  bool large_ping = false;       // the last PING on a silent path was padded
  Duration peer_feedback_interval;
  Instant last_report;
  ReportRequests requests;
  PeerReception peer_reception;

  // The receiving direction.
  FeedbackClock feedback;
  GapWatch gap;
  OwnReception own_reception;
  std::uint64_t bytes_in = 0;

 private:
  const SentPacket* first_unreported(const SentLedger& ledger) const;
};

}  // namespace satrelay::stp
