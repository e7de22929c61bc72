// What was agreed with one epoch of the peer, and all that has happened since. A session has one at
// a time and builds another when the peer is another, or gone: nothing is reset by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pep/base/arena.h"
#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/connection/path_mtu.h"
#include "pep/stp/connection/probe_timer.h"
#include "pep/stp/connection/rtt_estimator.h"
#include "pep/stp/packets/feedback_clock.h"
#include "pep/stp/packets/loss_detector.h"
#include "pep/stp/packets/received_packets.h"
#include "pep/stp/packets/reorder_tolerance.h"
#include "pep/stp/packets/report_backlog.h"
#include "pep/stp/packets/sent_ledger.h"
#include "pep/stp/session.h"
#include "pep/stp/streams/copy_queue.h"
#include "pep/stp/streams/lane_credit.h"
#include "pep/stp/streams/start_credit.h"
#include "pep/stp/streams/stream_table.h"

namespace satrelay::stp {

struct Connection {
  // `unused`: nothing was sent yet. `promised`: the lane's credit that our HELLO grants.
  Connection(const Config& config, const Arena& arena, SentLedger unused, std::uint64_t promised,
             Instant now)
      : ledger(std::move(unused)),
        feedback({config.feedback_minimum, config.feedback_maximum, config.feedback_budget,
                  config.feedback_mode}),
        probes({config.ping_after, config.suspect_after}),
        path({config.datagram_base, config.datagram_size, config.path_mtu_known}),
        rtt(config.initial_rtt),
        peer_feedback_interval(config.feedback_minimum),
        last_report(now),
        last_request(now),
        lane_receive(config.lane_receive_limit, promised,
                     std::min<std::uint64_t>(config.lane_receive_limit,
                                             arena.total_blocks() * arena.block_size()) /
                         32,
                     config.all_stored),
        start_credit(config.stream_receive_limit) {
    probes.start(now);
    update_rtt();
  }

  void update_rtt() {
    probes.set_patience(rtt.smoothed(), peer_feedback_interval);
    feedback.set_maximum(rtt.smoothed());
  }

  bool doubts_peer = false;  // while it is alive, as far as is known

  // Packets
  SentLedger ledger;
  LossDetector losses;
  ReportBacklog reports;
  ReorderTolerance tolerance;  // of what we send
  ReceivedPackets received;
  FeedbackClock feedback;
  ProbeTimer probes;
  PathMtu path;
  RttEstimator rtt;
  std::uint64_t outage_end = 0;  // packets below were sent before the last outage was over
  bool large_ping = false;       // the last one on a silent path was
  Duration peer_feedback_interval;
  Instant last_report;
  std::uint64_t session_bytes_in = 0;
  std::uint64_t gap_begin = kMaxVarint;  // first packet of a gap that waits to be certain
  std::uint64_t announced_settled = 0;
  bool ping_due = false;
  int probe_packets = 0;    // data packets allowed although the path is silent
  int unasked_packets = 0;  // sent since the last one that wanted to be reported
  std::uint64_t asked_below = 0;
  Instant last_request;       // for the reports that we have missed
  double recent_packets = 0;  // over about the last 10,000
  double recent_losses = 0;

  // Streams
  PeerIds peer_ids;
  LaneSendCredit lane_send;
  LaneReceiveCredit lane_receive;
  StartCredit start_credit;              // of streams that the peer sends
  GrantedStartCredit peer_start_credit;  // of those that we send
  AnnouncedCapacity peer_capacity;       // of what goes
  Instant memory_check = Instant::never();
  CopyQueue copies;
  Instant next_confirm;  // what progress is told in
};

}  // namespace satrelay::stp
