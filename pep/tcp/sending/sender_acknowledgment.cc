// Sender: handling of ACKs.
#include <algorithm>

#include "pep/base/check.h"
#include "pep/tcp/sending/sender.h"

namespace satrelay::tcp {
namespace {

// A finer timer is not worth its cost: hosts do not answer within microseconds.
constexpr Duration kReorderingGranularity = Duration::milliseconds(1);

}  // namespace

void Sender::handle_acknowledgment(const Acknowledgment& acknowledgment, Instant now) {
  const std::uint64_t una_before = una();
  const std::uint64_t pipe_before = board_.pipe();
  const std::uint64_t flight_before = board_.outstanding();
  const std::uint64_t advance =
      acknowledgment.ack > una_before ? acknowledgment.ack - una_before : 0;
  probes_unanswered_ = 0;

  // RFC 3168 section 6.1.2: react once a window of data.
  if (acknowledgment.congestion_echo && flight_before > 0 &&
      acknowledgment.ack > in_flight().echo_point) {
    in_flight().echo_point = next();
    ++counters().congestion_echoes;
    if (recovery_ == Recovery::kOpen) reduce({flight_before, now});
    reduction_to_tell_ = true;
  }
  const std::uint64_t fresh = take_reports(acknowledgment, advance, now);
  judge_probe(acknowledgment, advance, flight_before, now);
  const bool window_changed = take_window(acknowledgment, una_before, now);
  // A peer that answers with a closed window is alive, however long the window stays closed.
  if (peer_edge_ <= una()) retries_ = 0;

  if (flight_before == 0) return;
  const Duration rtt = take_rtt(acknowledgment, advance > 0, now);
  count_duplicates(acknowledgment, advance, window_changed);
  if (recovery_ != Recovery::kOpen || in_flight().duplicates > 0 || board_.has_sacked() ||
      timers().armed(Timer::kReordering)) {
    update_recovery(advance, flight_before, now);
  }
  // Duplicate ACKs alone do not open the congestion window (RFC 5681 section 3.2). After a timeout,
  // new SACK reports open it, too.
  if (advance > 0 || (fresh > 0 && recovery_ == Recovery::kLoss)) {
    controller().on_ack({fresh, pipe_before, rtt, rtt_.smoothed(),
                         recovery_ == Recovery::kFast || acknowledgment.congestion_echo, now});
  }
  if (advance > 0) on_advanced(now);
  SATRELAY_DCHECK(board_.is_consistent());
}

void Sender::handle_advance(const Acknowledgment& acknowledgment, Instant now) {
  const std::uint64_t una_before = una();
  const std::uint64_t pipe_before = board_.pipe();
  probes_unanswered_ = 0;
  const std::uint64_t fresh = take_advance(acknowledgment, {now, acknowledgment.echoed_before});
  take_window(acknowledgment, una_before, now);
  const Duration rtt = take_rtt(acknowledgment, true, now);
  controller().on_ack({fresh, pipe_before, rtt, rtt_.smoothed(), false, now});
}

// Restarts the timers for the data that is still in flight.
void Sender::on_advanced(Instant now) {
  if (board_.outstanding() == 0) {
    tail_probe_owed_ = false;  // no tail is left
    timers().cancel(Timer::kRetransmission);
  } else {
    restart_retransmission_timer(now);
  }
  schedule_probe(now);
}

std::uint64_t Sender::take_advance(const Acknowledgment& acknowledgment,
                                   const Rack::Arrival& arrival) {
  if (selective_) {
    in_flight().rack.on_delivered({0, acknowledgment.ack}, arrival);
    in_flight().rack.segments().release_below(acknowledgment.ack);
  }
  if (is_urgent()) [[unlikely]] {
    in_flight_->urgent->pass(acknowledgment.ack);
    if (in_flight_->urgent->empty()) in_flight_->urgent.reset();
  }
  const std::uint64_t fresh = board_.acknowledge(acknowledgment.ack);
  queue_.release_below(std::min(acknowledgment.ack, queue_.end()));
  retries_ = 0;
  return fresh;
}

std::uint64_t Sender::take_reports(const Acknowledgment& acknowledgment, std::uint64_t advance,
                                   Instant now) {
  // The ACK of a segment beyond a gap echoes the timestamp of a segment before the gap (RFC 7323
  // section 4.3). It says nothing about the segment that it reports.
  const Rack::Arrival arrival{now, advance > 0 ? acknowledgment.echoed_before : Instant::never()};
  std::uint64_t fresh = 0;
  if (advance > 0) fresh = take_advance(acknowledgment, arrival);
  if (selective_) {
    for (const Range& block : acknowledgment.sack) {
      if (!board_.has_place(block)) {
        ++counters().reports_dropped;
        continue;
      }
      fresh +=
          board_.sack(block, [&](Range range) { in_flight().rack.on_delivered(range, arrival); });
    }
  }
  return fresh;
}

void Sender::judge_probe(const Acknowledgment& acknowledgment, std::uint64_t advance,
                         std::uint64_t flight, Instant now) {
  const bool bare = advance == 0 && acknowledgment.ack == una() &&
                    !acknowledgment.occupies_sequence && acknowledgment.sack.empty();
  const auto finding =
      in_flight_ ? in_flight_->probe.on_ack({acknowledgment.ack, acknowledgment.duplicate, bare})
                 : TailLossProbe::Finding::kNothing;
  if (acknowledgment.duplicate) {
    ++counters().needless_retransmissions;
    if (finding != TailLossProbe::Finding::kNeedless) {
      in_flight().rack.on_duplicate_report(una(), board_.next());
    }
  }
  if (finding == TailLossProbe::Finding::kRepaired && recovery_ == Recovery::kOpen) {
    reduce({flight, now});
  }
}

void Sender::reduce(const control::LossSample& sample) {
  controller().on_loss(sample);
  reduction_to_tell_ = true;
}

void Sender::handle_smaller_path(std::uint64_t position, std::uint32_t segment_size, Instant now) {
  controller().set_segment_size(segment_size);
  segment_size_ = segment_size;
  board_.take_for_lost({position, next()});
  in_flight().probe.forget();
  tail_probe_owed_ = false;
  timers().cancel(Timer::kProbe);
  in_flight().timed_at = Instant::never();
  restart_retransmission_timer(now);
}

bool Sender::take_window(const Acknowledgment& acknowledgment, std::uint64_t una_before,
                         Instant now) {
  // RFC 9293 section 3.10.7.4 (WL1, WL2). As in common stacks, an ACK of new data updates the
  // window even if its segment was sent earlier.
  if (acknowledgment.ack == una_before && acknowledgment.sequence < window_sequence_) return false;
  const std::uint64_t edge = acknowledgment.ack + acknowledgment.window;
  const bool changed = edge != peer_edge_;
  const bool opens = peer_edge_ <= board_.next() && edge > board_.next();
  peer_edge_ = edge;
  window_sequence_ = acknowledgment.sequence;
  largest_window_ = std::max(largest_window_, acknowledgment.window);
  if (opens && timers().armed(Timer::kPersist)) hasten_override(now);
  return changed;
}

Duration Sender::take_rtt(const Acknowledgment& acknowledgment, bool advanced, Instant now) {
  Duration sample;
  if (!in_flight().timed_at.is_never()) {
    // Our own clock is finer than the peer's echo of milliseconds.
    if (acknowledgment.ack < in_flight().timed_end) return sample;
    sample = now - in_flight().timed_at;
    in_flight().timed_at = Instant::never();
  } else if (advanced) {
    sample = acknowledgment.timestamp_rtt;  // RFC 7323 section 4.1: only if it acknowledges data
  }
  if (sample > Duration::zero()) rtt_.sample(sample, rtt_limits());
  return sample;
}

void Sender::count_duplicates(const Acknowledgment& acknowledgment, std::uint64_t advance,
                              bool window_changed) {
  if (selective_) return;
  if (advance > 0) {
    // RFC 6582 deflation: each segment newly acknowledged, except the first, had caused a duplicate
    // ACK.
    const std::uint64_t segments = advance / segment_size_;
    const std::uint64_t covered = segments > 0 ? segments - 1 : 0;
    in_flight().duplicates = recovery_ == Recovery::kFast && in_flight().duplicates > covered
                                 ? in_flight().duplicates - static_cast<std::uint32_t>(covered)
                                 : 0;
  } else if (acknowledgment.ack == una() && !acknowledgment.occupies_sequence && !window_changed) {
    ++in_flight().duplicates;  // RFC 5681 section 2
  }
  board_.set_duplicate_credit(
      recovery_ == Recovery::kLoss ? 0 : std::uint64_t{in_flight().duplicates} * segment_size_);
}

void Sender::find_losses(Instant now) {
  const Instant again = in_flight().rack.detect(
      circumstances(now), [this](Range range) { board_.take_for_lost(range); });
  timers().arm(Timer::kReordering, later(again, now + kReorderingGranularity));
}

void Sender::update_recovery(std::uint64_t advance, std::uint64_t flight, Instant now) {
  if (recovery_ != Recovery::kOpen && una() >= in_flight().recovery_point) {
    if (recovery_ == Recovery::kFast) controller().on_recovery_exit(now);
    in_flight().rack.on_recovery_exit();
    recovery_ = Recovery::kOpen;
    in_flight().duplicates = 0;
    board_.set_duplicate_credit(0);
    force_ = false;
  }
  if (selective_) {
    find_losses(now);
  } else if (recovery_ == Recovery::kOpen && in_flight().duplicates >= kDuplicateThreshold &&
             (una() > in_flight().recovery_point || in_flight().recovery_point == 0)) {
    board_.mark_first_lost(segment_size_);
  }
  if (recovery_ == Recovery::kOpen) {
    if (board_.has_lost()) enter_fast_recovery(flight, now);
  } else if (recovery_ == Recovery::kFast && !selective_ && advance > 0) {
    board_.mark_first_lost(segment_size_);  // partial ACK: the next segment is missing too
    force_ = true;
  }
}

void Sender::enter_fast_recovery(std::uint64_t flight, Instant now) {
  ++counters().fast_recoveries;
  recovery_ = Recovery::kFast;
  in_flight().recovery_point = board_.next();
  in_flight().probe.forget();
  tail_probe_owed_ = false;
  timers().cancel(Timer::kProbe);
  force_ = true;
  reduce({flight, now});
}

}  // namespace satrelay::tcp
