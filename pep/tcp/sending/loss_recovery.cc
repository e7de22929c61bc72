#include "pep/tcp/sending/loss_recovery.h"

#include <algorithm>

#include "pep/base/check.h"

namespace satrelay::tcp {
namespace {

// A finer timer is not worth its cost, because hosts do not answer within microseconds.
constexpr Duration kReorderingGranularity = Duration::milliseconds(1);

}  // namespace

void LossRecovery::trim(bool idle) {
  board_.trim();
  if (!in_flight_) return;
  in_flight_->rack.segments().trim();
  if (idle && is_open() && in_flight_->rack.is_plain()) in_flight_.reset();
}

// --- output --------------------------------------------------------------------------------------

std::size_t LossRecovery::room_for_segments() const {
  return selective_ && in_flight_ ? in_flight_->rack.segments().room() : SentSegments::kMost;
}

void LossRecovery::on_sent(Range range, Instant now) {
  board_.on_sent(range.end);
  InFlight& sent = in_flight();
  // If the sender was idle, it has freed its record of the shortest RTT, so begin with the smoothed
  // RTT.
  if (!sent.rack.has_minimum_rtt() && rtt_.has_sample()) [[unlikely]]
    sent.rack.take_rtt(rtt_.smoothed(), now);
  if (selective_) sent.rack.segments().on_sent(range, now);
  if (sent.timed_at.is_never()) {
    sent.timed_at = now;
    sent.timed_end = range.end;
  }
}

void LossRecovery::wait_for_acknowledgment(Environment& around, Instant now) {
  if (!around.timers.armed(Timer::kRetransmission)) restart_retransmission_timer(around, now);
  schedule_tail_probe(around, now);
}

void LossRecovery::on_retransmitted(Range range, Environment& around, Instant now) {
  force_ = false;
  board_.on_retransmitted(range);
  if (selective_) in_flight().rack.segments().on_retransmitted(range, now);
  // Karn's algorithm: a segment that may have been sent twice gives no RTT sample.
  if (range.begin < in_flight().timed_end) in_flight().timed_at = Instant::never();
  if (range.begin == board_.una() || !around.timers.armed(Timer::kRetransmission)) {
    restart_retransmission_timer(around, now);
  }
  ++around.counters().retransmitted_segments;
}

void LossRecovery::on_tail_probe_sent(bool retransmission, Environment& around) {
  ++around.counters().tail_loss_probes;
  in_flight().probe.on_sent(board_.next(), retransmission);
  around.timers.cancel(Timer::kProbe);
}

void LossRecovery::restart_retransmission_timer(Environment& around, Instant now) const {
  around.timers.arm(Timer::kRetransmission, now + rtt_.rto());
}

// RFC 8985 section 7.2. Called when new data is sent or acknowledged. Arms the probe timer only
// while no segment is known to be missing.
void LossRecovery::schedule_tail_probe(Environment& around, Instant now) {
  if (!selective_) return;
  const bool wanted =
      board_.outstanding() > 0 && is_open() && !board_.has_sacked() && !probe_in_flight();
  if (!wanted) return around.timers.cancel(Timer::kProbe);
  const Duration timeout = TailLossProbe::timeout(
      rtt_.smoothed(), in_flight().rack.segments().size() == 1, around.profile().minimum_rto);
  around.timers.arm(Timer::kProbe,
                    earlier(now + timeout, around.timers.deadline(Timer::kRetransmission)));
}

void LossRecovery::forget_tail_probe(Environment& around) {
  in_flight().probe.forget();
  tail_probe_owed_ = false;
  around.timers.cancel(Timer::kProbe);
}

// --- input ---------------------------------------------------------------------------------------

LossRecovery::Finding LossRecovery::handle_acknowledgment(const Acknowledgment& acknowledgment,
                                                          const AckContext& context,
                                                          Environment& around, Instant now) {
  const bool was_idle = board_.outstanding() == 0;
  const std::uint64_t advance =
      acknowledgment.ack > board_.una() ? acknowledgment.ack - board_.una() : 0;
  Finding finding;
  finding.fresh = take_reports(acknowledgment, advance, around, now);
  finding.tail_repaired = judge_tail_probe(acknowledgment, advance, around);
  if (was_idle) return finding;
  finding.rtt = take_rtt(acknowledgment, advance > 0, around, now);
  count_duplicates(acknowledgment, advance, context);
  if (!is_open() || in_flight().duplicates > 0 || board_.has_sacked() ||
      around.timers.armed(Timer::kReordering)) {
    update_phase(advance, context, finding, around, now);
  }
  if (advance > 0) on_advanced(around, now);
  SATRELAY_DCHECK(board_.is_consistent());
  return finding;
}

bool LossRecovery::takes_echo(std::uint64_t ack) {
  if (board_.outstanding() == 0 || ack <= in_flight().echo_point) return false;
  in_flight().echo_point = board_.next();
  return true;
}

bool LossRecovery::misses_nothing(const Timers& timers) const {
  if (!is_open() || board_.has_sacked() || board_.has_lost()) return false;
  if (probe_in_flight() || timers.armed(Timer::kReordering)) return false;
  return !in_flight_ || in_flight_->duplicates == 0;
}

LossRecovery::Finding LossRecovery::handle_advance(const Acknowledgment& acknowledgment,
                                                   Environment& around, Instant now) {
  Finding finding;
  finding.fresh = take_advance(acknowledgment, {now, acknowledgment.echoed_before});
  finding.rtt = take_rtt(acknowledgment, true, around, now);
  return finding;
}

// Restarts the timers for the data that is still in flight.
void LossRecovery::on_advanced(Environment& around, Instant now) {
  if (board_.outstanding() == 0) {
    tail_probe_owed_ = false;  // all data is acknowledged
    around.timers.cancel(Timer::kRetransmission);
  } else {
    restart_retransmission_timer(around, now);
  }
  schedule_tail_probe(around, now);
}

void LossRecovery::handle_smaller_path(std::uint64_t position, Environment& around, Instant now) {
  board_.take_for_lost({position, board_.next()});
  forget_tail_probe(around);
  in_flight().timed_at = Instant::never();
  restart_retransmission_timer(around, now);
}

std::uint64_t LossRecovery::take_advance(const Acknowledgment& acknowledgment,
                                         const Rack::Arrival& arrival) {
  if (selective_) {
    in_flight().rack.on_delivered({0, acknowledgment.ack}, arrival);
    in_flight().rack.segments().release_below(acknowledgment.ack);
  }
  retries_ = 0;
  return board_.acknowledge(acknowledgment.ack);
}

std::uint64_t LossRecovery::take_reports(const Acknowledgment& acknowledgment,
                                         std::uint64_t advance, Environment& around, Instant now) {
  // The ACK of a segment beyond a gap echoes the timestamp of a segment before the gap (RFC 7323
  // section 4.3). So the echo says nothing about the segments in the SACK blocks.
  const Rack::Arrival arrival{now, advance > 0 ? acknowledgment.echoed_before : Instant::never()};
  std::uint64_t fresh = 0;
  if (advance > 0) fresh = take_advance(acknowledgment, arrival);
  if (selective_) {
    for (const Range& block : acknowledgment.sack) {
      if (!board_.has_place(block)) {
        ++around.counters().reports_dropped;
        continue;
      }
      fresh +=
          board_.sack(block, [&](Range range) { in_flight().rack.on_delivered(range, arrival); });
    }
  }
  return fresh;
}

// Returns whether the tail probe has replaced a lost segment while no other loss was known.
bool LossRecovery::judge_tail_probe(const Acknowledgment& acknowledgment, std::uint64_t advance,
                                    Environment& around) {
  const bool bare = advance == 0 && acknowledgment.ack == board_.una() &&
                    !acknowledgment.occupies_sequence && acknowledgment.sack.empty();
  const auto finding =
      in_flight_ ? in_flight_->probe.on_ack({acknowledgment.ack, acknowledgment.duplicate, bare})
                 : TailLossProbe::Finding::kNothing;
  if (acknowledgment.duplicate) {
    ++around.counters().needless_retransmissions;
    if (finding != TailLossProbe::Finding::kNeedless) {
      in_flight().rack.on_duplicate_report(board_.una(), board_.next());
    }
  }
  return finding == TailLossProbe::Finding::kRepaired && is_open();
}

Duration LossRecovery::take_rtt(const Acknowledgment& acknowledgment, bool advanced,
                                Environment& around, Instant now) {
  Duration sample;
  if (!in_flight().timed_at.is_never()) {
    // Our own clock is finer than the peer's echo, which counts in milliseconds.
    if (acknowledgment.ack < in_flight().timed_end) return sample;
    sample = now - in_flight().timed_at;
    in_flight().timed_at = Instant::never();
  } else if (advanced) {
    sample = acknowledgment.timestamp_rtt;  // RFC 7323 section 4.1: only from an ACK of new data
  }
  if (sample > Duration::zero()) rtt_.sample(sample, rto_limits(around.profile()));
  return sample;
}

void LossRecovery::count_duplicates(const Acknowledgment& acknowledgment, std::uint64_t advance,
                                    const AckContext& context) {
  if (selective_) return;
  if (advance > 0) {
    // RFC 6582 deflation: each newly acknowledged segment except the first had caused one duplicate
    // ACK.
    const std::uint64_t segments = advance / context.segment_size;
    const std::uint64_t covered = segments > 0 ? segments - 1 : 0;
    in_flight().duplicates = phase_ == Phase::kFast && in_flight().duplicates > covered
                                 ? in_flight().duplicates - static_cast<std::uint32_t>(covered)
                                 : 0;
  } else if (acknowledgment.ack == board_.una() && !acknowledgment.occupies_sequence &&
             !context.window_changed) {
    ++in_flight().duplicates;  // RFC 5681 section 2
  }
  board_.set_duplicate_credit(
      phase_ == Phase::kLoss ? 0 : std::uint64_t{in_flight().duplicates} * context.segment_size);
}

// --- losses --------------------------------------------------------------------------------------

void LossRecovery::find_losses(Environment& around, Instant now) {
  const Instant again = in_flight().rack.detect(
      circumstances(now), [this](Range range) { board_.take_for_lost(range); });
  around.timers.arm(Timer::kReordering, later(again, now + kReorderingGranularity));
}

void LossRecovery::update_phase(std::uint64_t advance, const AckContext& context, Finding& finding,
                                Environment& around, Instant now) {
  if (!is_open() && board_.una() >= in_flight().recovery_point) {
    finding.recovered = phase_ == Phase::kFast;
    in_flight().rack.on_recovery_exit();
    phase_ = Phase::kOpen;
    in_flight().duplicates = 0;
    board_.set_duplicate_credit(0);
    force_ = false;
  }
  if (selective_) {
    find_losses(around, now);
  } else if (is_open() && in_flight().duplicates >= kDuplicateThreshold &&
             (board_.una() > in_flight().recovery_point || in_flight().recovery_point == 0)) {
    board_.mark_first_lost(context.segment_size);
  }
  if (is_open()) {
    finding.lost = board_.has_lost();
    if (finding.lost) enter_fast_recovery(around);
  } else if (phase_ == Phase::kFast && !selective_ && advance > 0) {
    board_.mark_first_lost(context.segment_size);  // partial ACK: the next segment is also lost
    force_ = true;
  }
}

void LossRecovery::enter_fast_recovery(Environment& around) {
  ++around.counters().fast_recoveries;
  phase_ = Phase::kFast;
  in_flight().recovery_point = board_.next();
  forget_tail_probe(around);
  force_ = true;
}

// --- timers --------------------------------------------------------------------------------------

void LossRecovery::handle_retransmission_timeout(Environment& around, Instant now) {
  ++retries_;
  ++around.counters().retransmission_timeouts;
  rtt_.back_off(rto_limits(around.profile()));
  mark_lost_at_timeout(now);
  phase_ = Phase::kLoss;
  in_flight().recovery_point = board_.next();
  in_flight().duplicates = 0;
  force_ = true;
  in_flight().timed_at = Instant::never();
  forget_tail_probe(around);
  restart_retransmission_timer(around, now);
}

void LossRecovery::mark_lost_at_timeout(Instant now) {
  if (selective_ && !board_.has_reneged()) {
    in_flight().rack.detect_at_timeout(circumstances(now),
                                       [this](Range range) { board_.take_for_lost(range); });
    return;
  }
  board_.forget_reports();
  in_flight().rack.segments().forget_deliveries();
  board_.set_duplicate_credit(0);
  board_.mark_all_lost();
}

void LossRecovery::handle_tail_probe_timeout(Environment& around, Instant now) {
  if (board_.outstanding() == 0 || !is_open()) return;
  tail_probe_owed_ = true;
  restart_retransmission_timer(around, now);  // the timeout remains the last resort
}

bool LossRecovery::handle_reordering_timeout(Environment& around, Instant now) {
  if (board_.outstanding() == 0) return false;
  find_losses(around, now);
  if (!is_open() || !board_.has_lost()) return false;
  enter_fast_recovery(around);
  return true;
}

}  // namespace satrelay::tcp
