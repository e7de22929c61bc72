// Sender: handling of timers.
#include <algorithm>

#include "pep/tcp/sending/sender.h"

namespace satrelay::tcp {

TimeoutOutcome Sender::handle_persist_timeout(Instant now) {
  if (board_.outstanding() > 0 || board_.next() >= end()) return TimeoutOutcome::kContinues;
  if (probes_unanswered_ >= profile().data_retries) return TimeoutOutcome::kGivesUp;
  in_flight().persist_interval = std::min(in_flight().persist_interval * 2, profile().maximum_rto);
  timers().arm(Timer::kPersist, now + in_flight().persist_interval);
  if (peer_edge_ > board_.next()) {
    override_ = true;
    return TimeoutOutcome::kContinues;
  }
  ++probes_unanswered_;
  ++counters().zero_window_probes;
  window_probe_owed_ = true;
  urgent_probe_owed_ = is_urgent();
  return TimeoutOutcome::kContinues;
}

TimeoutOutcome Sender::handle_retransmission_timeout(Instant now) {
  if (board_.outstanding() == 0) return TimeoutOutcome::kContinues;
  if (retries_ >= profile().data_retries) return TimeoutOutcome::kGivesUp;
  ++retries_;
  ++counters().retransmission_timeouts;
  back_off();
  // A closed window, not the path, may be the reason why nothing was acknowledged.
  if (peer_edge_ > una()) {
    controller().on_timeout({board_.outstanding(), now});
    reduction_to_tell_ = true;
  }
  mark_lost_at_timeout(now);
  recovery_ = Recovery::kLoss;
  in_flight().recovery_point = board_.next();
  in_flight().duplicates = 0;
  force_ = true;
  in_flight().timed_at = Instant::never();
  in_flight().probe.forget();
  tail_probe_owed_ = false;
  timers().cancel(Timer::kProbe);
  restart_retransmission_timer(now);
  return TimeoutOutcome::kContinues;
}

void Sender::mark_lost_at_timeout(Instant now) {
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

void Sender::handle_probe_timeout(Instant now) {
  // A closed window is probed by the retransmission timer.
  if (board_.outstanding() == 0 || recovery_ != Recovery::kOpen || peer_edge_ <= una()) return;
  tail_probe_owed_ = true;
  restart_retransmission_timer(now);  // it remains the last resort
}

void Sender::handle_reordering_timeout(Instant now) {
  if (board_.outstanding() == 0) return;
  const std::uint64_t flight = board_.outstanding();
  find_losses(now);
  if (recovery_ == Recovery::kOpen && board_.has_lost()) enter_fast_recovery(flight, now);
}

}  // namespace satrelay::tcp
