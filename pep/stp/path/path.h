// The state of one path between two gateways, in both directions: its round trip time, its largest
// datagram, its losses, its sending rate, whether it is silent, and when reports are sent. Packet
// numbers belong to the association and not to the path, because nonces are built from them.
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

  // `unused` is a gate that has not sent any packet of the association.
  Path(PathId name, const Config& config, const RateGate& unused, Instant now);

  void update_rtt() {
    probes.set_patience(rtt.smoothed(), peer_feedback_interval);
    feedback.set_maximum(rtt.smoothed());
  }
  // The time from new credit for the peer until bytes arrive that use this credit.
  Duration reach_of_credit() const { return rtt.smoothed() + feedback.told_interval(); }
  // Number of bytes that can be sent until the report about the first of these bytes arrives. The
  // last flight of a stream consists of its last bytes, up to this number. If they are lost and not
  // repaired, the end of the stream is delayed by a round trip.
  ByteCount flight() const {
    return gate.rate().bytes_in(rtt.smoothed() + peer_feedback_interval + tolerance.time());
  }
  // Packets that were lost in an outage say nothing about the loss of the link. So neither the rate
  // nor FEC reacts to them.
  void note_outage(const SentLedger& ledger, Instant now) {
    if (probes.is_outage(rtt.smoothed(), now)) outage_end = ledger.next();
  }
  // How likely it is that the path drops large packets. If reports about our packets are overdue,
  // either the path is silent, or it drops large packets.
  PathMtu::Doubt doubt_of_large_packets(const SentLedger& ledger, Instant now) const;
  // Requests a report if all reports about some packets were lost.
  void ask_for_missed_reports(const FeedbackFrame& report, Instant now) {
    if (losses.oldest_unresolved() >= report.first) return;
    requests.on_missed(losses.newest_unresolved_below(report.first),
                       rtt.smoothed() + peer_feedback_interval * 2, now);
  }

  // A report about packets of this path has arrived. Updates the state that must be known before
  // the report is applied.
  PendingReport begin_report(const FeedbackFrame& report, const SentLedger& ledger, Instant now);
  // The report was applied to all its packets. `repaired` is the number of packets that were lost
  // on the path and recovered with repairs.
  void end_report(const PendingReport& pending, std::uint64_t repaired, const SentLedger& ledger,
                  Instant now);
  // The rule that says when packets that are missing in a report count as lost. It ignores repairs.
  LossDetector::Rule loss_rule(const FeedbackFrame& report, const SentLedger& ledger);
  // Counts `packets` lost packets. The peer's port has dropped `at_peer` of these packets, so the
  // path did not lose them. Returns how many packets that were counted earlier were too large for
  // the path. These no longer count as losses.
  [[nodiscard]] std::uint64_t count_losses(std::uint64_t packets, std::uint64_t at_peer);

  PathId id;

  // The direction to the peer:
  RateGate gate;
  LossDetector losses;
  ReportBacklog reports;
  ReorderTolerance tolerance;
  LossRate loss_rate;
  ProbeTimer probes;
  PathMtu mtu;
  RttEstimator rtt;
  std::uint64_t outage_end = 0;  // packets below this number were sent before the last outage ended
  // Whether the last PING on a silent path was padded to the size of a large packet.
  bool large_ping = false;
  Duration peer_feedback_interval;
  Instant last_report;
  ReportRequests requests;
  PeerReception peer_reception;

  // The direction from the peer:
  FeedbackClock feedback;
  GapWatch gap;
  OwnReception own_reception;
  std::uint64_t bytes_in = 0;

 private:
  const SentPacket* first_unreported(const SentLedger& ledger) const;
};

}  // namespace satrelay::stp
