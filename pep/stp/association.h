// All that was agreed with one epoch of the peer, and all that has happened since. A session has
// one association at a time. It builds another for the next peer, or when the peer is gone, so
// nothing is reset by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/connection/path_mtu.h"
#include "pep/stp/connection/probe_timer.h"
#include "pep/stp/connection/rtt_estimator.h"
#include "pep/stp/packets/feedback_clock.h"
#include "pep/stp/packets/gap_watch.h"
#include "pep/stp/packets/loss_detector.h"
#include "pep/stp/packets/loss_rate.h"
#include "pep/stp/packets/received_packets.h"
#include "pep/stp/packets/reception.h"
#include "pep/stp/packets/reorder_tolerance.h"
#include "pep/stp/packets/report_backlog.h"
#include "pep/stp/packets/report_requests.h"
#include "pep/stp/packets/sent_ledger.h"
#include "pep/stp/session.h"

namespace satrelay::stp {

struct Association {
  // `unused`: a ledger in which no packet is recorded.
  Association(const Config& config, SentLedger unused, Instant now)
      : ledger(std::move(unused)),
        reports(config.datagram_size),
        probes({config.ping_after, config.suspect_after}),
        path({.base = config.datagram_base,
              .floor = config.datagram_floor,
              .maximum = config.datagram_size,
              .known = config.path_mtu_known}),
        rtt(config.initial_rtt),
        peer_feedback_interval(config.feedback_minimum),
        last_report(now),
        requests(now),
        feedback({config.feedback_minimum, config.feedback_maximum, config.feedback_budget,
                  config.feedback_mode, config.report_budget}) {
    probes.start(now);
    update_rtt();
  }

  void update_rtt() {
    probes.set_patience(rtt.smoothed(), peer_feedback_interval);
    feedback.set_maximum(rtt.smoothed());
  }
  // The time that credit granted now takes to bring bytes.
  Duration reach_of_credit() const { return rtt.smoothed() + feedback.told_interval(); }
  // Packets lost in an outage say nothing about the link's loss. The rate and FEC stay as they
  // were.
  void note_outage(Instant now) {
    if (probes.is_outage(rtt.smoothed(), now)) outage_end = ledger.next();
  }
  // The doubt about large packets. Reports are missing on packets that must have arrived long ago:
  // the path is silent, or large packets vanish.
  PathMtu::Doubt doubt_of_large_packets(Instant now) const {
    constexpr Duration kLate = Duration::milliseconds(50);
    const Duration late = std::min(kLate, rtt.smoothed()) + peer_feedback_interval * 2;
    if (!probes.is_quiet_for(late, now)) return PathMtu::Doubt::kNone;
    const SentPacket* first = first_unreported();
    if (first == nullptr) return PathMtu::Doubt::kNone;
    const Instant due = later(first->sent, probes.busy_since()) + rtt.smoothed();
    const Duration missing = rtt.smoothed() + peer_feedback_interval * 2;
    if (probes.is_quiet_for(missing, now) && now >= due + missing) return PathMtu::Doubt::kGrave;
    return now >= due + late ? PathMtu::Doubt::kSlight : PathMtu::Doubt::kNone;
  }
  // The first unreported packet that asks for a report; nullptr if there is none among the next 64.
  const SentPacket* first_unreported() const {
    constexpr std::uint64_t kSearch = 64;
    const std::uint64_t begin = losses.frontier();
    for (std::uint64_t n = begin; n < ledger.next() && n - begin < kSearch; ++n) {
      const SentPacket* packet = ledger.find(n);
      if (packet != nullptr && packet->eliciting) return packet;
    }
    return nullptr;
  }
  // Asks for reports if all reports about some packets were lost.
  void ask_for_missed_reports(const FeedbackFrame& report, Instant now) {
    if (losses.oldest_unresolved() >= report.first) return;
    requests.on_missed(losses.newest_unresolved_below(report.first),
                       rtt.smoothed() + peer_feedback_interval * 2, now);
  }

  bool doubts_peer = false;  // a newcomer greets in its name, and it has not been heard since
  AnnouncedCapacity peer_capacity;  // of the direction towards the peer

  // The sending direction.
  SentLedger ledger;
  LossDetector losses;
  ReportBacklog reports;
  ReorderTolerance tolerance;
  LossRate loss_rate;
  ProbeTimer probes;
  PathMtu path;
  RttEstimator rtt;
  std::uint64_t outage_end = 0;  // packets below were sent before the last outage was over
  bool large_ping = false;       // the last PING on a silent path was padded
  Duration peer_feedback_interval;
  Instant last_report;
  ReportRequests requests;
  PeerReception peer_reception;

  // The receiving direction.
  ReceivedPackets received;
  FeedbackClock feedback;
  GapWatch gap;
  OwnReception own_reception;
  std::uint64_t bytes_in = 0;
};

}  // namespace satrelay::stp
