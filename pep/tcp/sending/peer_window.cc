#include "pep/tcp/sending/peer_window.h"

#include <algorithm>

namespace satrelay::tcp {
namespace {

// The payload of the smallest packet that every host and link must carry (68 octets, RFC 791).
constexpr std::uint64_t kLeastSegment = 68 - 20 - 20;

Duration first_interval(Duration rto, const Environment& around) {
  return std::max(rto, around.profile().minimum_rto);
}

}  // namespace

void PeerWindow::establish(std::uint64_t window) {
  edge_ = window;
  largest_ = static_cast<std::uint32_t>(window);
}

// A segment is worthwhile if it has half the size of the largest window that the peer ever offered.
// If a host never offers more than a few octets, the persist timer sets the pace.
bool PeerWindow::makes_worthwhile(std::uint64_t size) const {
  const std::uint64_t half = (std::uint64_t{largest_} + 1) / 2;
  return override_ || size >= std::max(half, kLeastSegment);
}

bool PeerWindow::take(const Acknowledgment& acknowledgment, Range outstanding, Duration rto,
                      Environment& around, Instant now) {
  // RFC 9293 section 3.10.7.4 (WL1, WL2). As in common stacks, an ACK of new data updates the
  // window even if its segment was sent before the segment of the last update.
  if (acknowledgment.ack == outstanding.begin && acknowledgment.sequence < sequence_) return false;
  const std::uint64_t edge = acknowledgment.ack + acknowledgment.window;
  const bool moves = edge != edge_;
  const bool opens = edge_ <= outstanding.end && edge > outstanding.end;
  edge_ = edge;
  sequence_ = acknowledgment.sequence;
  largest_ = std::max(largest_, static_cast<std::uint32_t>(acknowledgment.window));
  // Usually the sender fills the opened window at once, which ends the wait. If the window has only
  // a few octets, the sender waits for the timer. The timer never moves to a later time. Otherwise
  // a host that often sends ACKs could postpone it for ever.
  if (opens && around.timers.armed(Timer::kPersist)) {
    persist_interval_ = first_interval(rto, around);
    around.timers.arm(Timer::kPersist,
                      earlier(around.timers.deadline(Timer::kPersist), now + persist_interval_));
  }
  return moves;
}

void PeerWindow::wait_for_room(Duration rto, Environment& around, Instant now) {
  if (around.timers.armed(Timer::kPersist)) return;
  persist_interval_ = first_interval(rto, around);
  around.timers.arm(Timer::kPersist, now + persist_interval_);
}

void PeerWindow::on_sent(Environment& around) {
  override_ = false;
  if (around.timers.armed(Timer::kPersist)) around.timers.cancel(Timer::kPersist);
}

TimeoutOutcome PeerWindow::handle_timeout(std::uint64_t next, bool urgent, Environment& around,
                                          Instant now) {
  if (probes_unanswered_ >= around.profile().data_retries) return TimeoutOutcome::kGivesUp;
  persist_interval_ = std::min(persist_interval_ * 2, around.profile().maximum_rto);
  around.timers.arm(Timer::kPersist, now + persist_interval_);
  if (edge_ > next) {
    override_ = true;
    return TimeoutOutcome::kContinues;
  }
  ++probes_unanswered_;
  ++around.counters().zero_window_probes;
  probe_owed_ = true;
  urgent_probe_owed_ = urgent;
  return TimeoutOutcome::kContinues;
}

}  // namespace satrelay::tcp
