#include "pep/tcp/sending/sender.h"

#include <algorithm>

namespace satrelay::tcp {

// --- the application -----------------------------------------------------------------------------

std::size_t Sender::write(ConstBytes bytes, const Environment& around) {
  // Leave free the blocks that are reserved for received data. Otherwise data that waits to be sent
  // could take all memory, and no data could be received.
  const std::uint64_t free = around.arena().free_blocks();
  const std::uint64_t kept = around.reserve_blocks;
  const std::uint64_t room = queue_.room(free > kept ? free - kept : 0);
  const std::uint64_t count =
      std::min({std::uint64_t{bytes.size()}, writable(around.profile()), room});
  return count > 0 ? queue_.append(bytes.first(count)) : 0;
}

std::uint64_t Sender::writable(const Profile& profile) const {
  if (closed_ || queue_.size() >= profile.send_limit) return 0;
  return profile.send_limit - queue_.size();
}

UrgentMarks::Added Sender::mark_urgent(std::uint64_t mark, Counters& counters) {
  using Added = UrgentMarks::Added;
  if (closed_ || mark <= queue_.end()) return Added::kNothing;
  if (!urgent_) urgent_ = std::make_unique<UrgentMarks>();
  const Added added = urgent_->add(mark, queue_.end());
  if (added == Added::kNothing) return added;
  if (added != Added::kMoved) ++counters.urgent_marks_out;
  if (added == Added::kMerged) ++counters.urgent_marks_merged;
  if (window_.is_established() && peer_window() == 0 && urgent_beyond(una()) == mark) {
    peer_.owe_urgent_probe();
  }
  return added;
}

void Sender::drop() {
  closed_ = fin_acknowledged();
  queue_.reset();
  queue_.disown();
}

void Sender::trim(const Timers& timers) {
  queue_.trim();
  const bool quiet = board().outstanding() == 0 && !timers.armed(Timer::kPersist);
  // If urgent data was announced, it will be sent soon and need the recovery state, so that state
  // is not freed.
  recovery_.trim(quiet && !is_urgent());
  if (quiet && recovery_.is_open()) window_.trim();
}

void Sender::establish(const Established& parameters, const Profile& profile) {
  recovery_.establish(parameters.selective);
  window_.establish(profile.congestion, parameters.segment_size);
  peer_.establish(parameters.window);
}

// --- input ---------------------------------------------------------------------------------------

void Sender::handle_acknowledgment(const Acknowledgment& acknowledgment, Environment& around,
                                   Instant now) {
  const Range outstanding{una(), next()};
  const std::uint64_t pipe = board().pipe();
  const control::LossSample flight{outstanding.size(), now};
  const bool advances = acknowledgment.ack > outstanding.begin;
  peer_.on_answer();
  if (acknowledgment.congestion_echo && recovery_.takes_echo(acknowledgment.ack)) {
    ++around.counters().congestion_echoes;
    window_.on_congestion_echo(flight, !recovery_.is_open());
  }
  const bool window_changed =
      peer_.take(acknowledgment, outstanding, recovery_.rtt().rto(), around, now);
  const LossRecovery::Finding found = recovery_.handle_acknowledgment(
      acknowledgment, {window_changed, window_.segment_size()}, around, now);
  if (advances) release(acknowledgment.ack);
  forgive_closed_window();

  if (found.tail_repaired) window_.on_loss(flight);
  if (found.recovered) window_.on_recovery_exit(now);
  if (found.lost) window_.on_loss(flight);
  // Duplicate ACKs alone do not open the congestion window (RFC 5681 section 3.2). But after a
  // timeout, new SACK reports open it.
  const auto phase = recovery_.phase();
  if (advances || (found.fresh > 0 && phase == LossRecovery::Phase::kLoss)) {
    window_.on_ack({found.fresh, pipe, found.rtt, recovery_.rtt().smoothed(),
                    phase == LossRecovery::Phase::kFast || acknowledgment.congestion_echo, now});
  }
}

void Sender::handle_advance(const Acknowledgment& acknowledgment, Environment& around,
                            Instant now) {
  const std::uint64_t pipe = board().pipe();
  peer_.on_answer();
  peer_.take(acknowledgment, {una(), next()}, recovery_.rtt().rto(), around, now);
  const LossRecovery::Finding found = recovery_.handle_advance(acknowledgment, around, now);
  release(acknowledgment.ack);
  window_.on_ack({found.fresh, pipe, found.rtt, recovery_.rtt().smoothed(), false, now});
}

// Frees the bytes before `ack`, as the peer has them.
void Sender::release(std::uint64_t ack) {
  if (is_urgent()) [[unlikely]] {
    urgent_->pass(ack);
    if (urgent_->empty()) urgent_.reset();
  }
  queue_.release_below(std::min(ack, queue_.end()));
}

TimeoutOutcome Sender::handle_timeout(Environment& around, Instant now) {
  Timers& timers = around.timers;
  const control::LossSample flight{board().outstanding(), now};
  if (timers.expire(Timer::kReordering, now) && recovery_.handle_reordering_timeout(around, now)) {
    window_.on_loss(flight);
  }
  // If the window is closed, the retransmission timer probes it.
  if (timers.expire(Timer::kProbe, now) && peer_window() > 0) {
    recovery_.handle_tail_probe_timeout(around, now);
  }
  if (timers.expire(Timer::kRetransmission, now) && flight.bytes_in_flight > 0) {
    if (recovery_.retries() >= around.profile().data_retries) return TimeoutOutcome::kGivesUp;
    // A closed window may be the reason why nothing was acknowledged. Then the path is not
    // congested.
    if (peer_window() > 0) window_.on_timeout(flight);
    recovery_.handle_retransmission_timeout(around, now);
  }
  const bool waits = flight.bytes_in_flight == 0 && next() < end();
  if (timers.expire(Timer::kPersist, now) && waits) {
    return peer_.handle_timeout(next(), is_urgent(), around, now);
  }
  return TimeoutOutcome::kContinues;
}

void Sender::handle_smaller_path(std::uint64_t position, std::uint32_t segment_size,
                                 Environment& around, Instant now) {
  window_.set_segment_size(segment_size);
  recovery_.handle_smaller_path(position, around, now);
}

// --- output --------------------------------------------------------------------------------------

bool Sender::has_work() const {
  return next() < end() || board().has_lost() || recovery_.owes_tail_probe();
}

std::optional<Transmission> Sender::poll(std::uint16_t room, std::size_t most, Environment& around,
                                         Instant now) {
  if (board().has_lost()) return poll_lost(room, around, now);
  if (recovery_.owes_tail_probe()) [[unlikely]] {
    return poll_tail_probe(room, around, now);
  }
  if (next() >= end()) return std::nullopt;
  if (const std::size_t count = full_segments(room, most); count > 0) {
    return send_full(room, count, around, now);
  }
  if (auto segment = poll_new(room, around, now)) return segment;
  // If data is in flight, the sender waits for an ACK or for the retransmission timer. If no data
  // is in flight, only the peer's window can block the sender.
  if (board().outstanding() == 0) peer_.wait_for_room(recovery_.rtt().rto(), around, now);
  return std::nullopt;
}

// A segment has only one urgent pointer. So the segment ends at the next urgent mark, if there is
// one.
std::uint16_t Sender::room_until_mark(std::uint64_t begin, std::uint16_t room) const {
  const std::uint64_t mark = urgent_beyond(begin);
  return mark == 0 ? room : static_cast<std::uint16_t>(std::min<std::uint64_t>(room, mark - begin));
}

// Whether a segment that ends at `end` gets PSH: if all data written so far ends there, or if an
// urgent mark is there.
bool Sender::pushes(std::uint64_t end) const {
  return end == queue_.end() || (is_urgent() && urgent_beyond(end - 1) == end);
}

std::optional<Transmission> Sender::poll_new(std::uint16_t room, Environment& around, Instant now) {
  const std::uint64_t begin = next();
  room = room_until_mark(begin, room);
  const std::uint64_t data = queue_.end() - begin;
  const std::uint64_t usable = peer_.beyond(begin);
  const std::uint64_t size = std::min({data, std::uint64_t{room}, usable});
  const bool fin = closed_ && size == data && usable > size;
  if (size == 0 && !fin) return std::nullopt;
  // Silly window avoidance (RFC 9293 section 3.8.6.2.1): send a full segment, or all data, or a
  // good part of the window.
  const bool worthwhile = size == room || size == data || peer_.makes_worthwhile(size);
  if (!worthwhile) return std::nullopt;
  if (begin == una()) window_.on_restart(recovery_.rtt().rto(), now);
  if (!window_.allows(board().pipe(), size) && !recovery_.owes_tail_probe()) return std::nullopt;
  if (recovery_.room_for_segments() == 0) return std::nullopt;

  recovery_.on_sent({begin, begin + size + (fin ? 1 : 0)}, now);
  begin_waiting(around, now);
  return Transmission{.begin = begin,
                      .size = static_cast<std::uint16_t>(size),
                      .fin = fin,
                      .push = pushes(begin + size),
                      .fresh = true,
                      .reduced = window_.take_reduction_to_tell()};
}

// Number of full segments (with `room` bytes of new data each) that may be sent together after the
// data in flight; at most `most`. The last data, and any segment that needs special flags, is left
// to poll_new().
std::size_t Sender::full_segments(std::uint16_t room, std::size_t most) const {
  const std::uint64_t pipe = board().pipe();
  const std::uint64_t window = window_.window();
  const std::uint64_t begin = next();
  if (pipe == 0 || window_.has_reduction_to_tell() || is_urgent()) return 0;
  if (pipe >= window || queue_.end() <= begin) return 0;
  const std::uint64_t bytes =
      std::min({window - pipe, peer_.beyond(begin), queue_.end() - begin - 1});
  const std::uint64_t count = bytes < most * room ? bytes / room : most;
  return std::min<std::uint64_t>(count, recovery_.room_for_segments());
}

Transmission Sender::send_full(std::uint16_t room, std::size_t count, Environment& around,
                               Instant now) {
  const std::uint64_t begin = next();
  for (std::size_t i = 0; i < count; ++i) {
    recovery_.on_sent({begin + i * room, begin + (i + 1) * room}, now);
  }
  begin_waiting(around, now);
  return Transmission{.begin = begin, .size = room, .count = count, .fresh = true};
}

// Starts to wait for the acknowledgment of new data.
void Sender::begin_waiting(Environment& around, Instant now) {
  peer_.on_sent(around);
  window_.on_sent(now);
  recovery_.wait_for_acknowledgment(around, now);
}

std::optional<Transmission> Sender::poll_lost(std::uint16_t room, Environment& around,
                                              Instant now) {
  const Range lost = board().first_lost();
  room = room_until_mark(lost.begin, room);
  const std::uint64_t data_end = std::min(lost.end, queue_.end());
  const std::uint64_t data = data_end - std::min(lost.begin, data_end);
  const std::uint64_t size = std::min(data, std::uint64_t{room});
  const bool fin = size == data && lost.end > queue_.end();
  // Data beyond a shrunken window must wait. Only its first segment is sent, as a probe, when the
  // retransmission timer expires (RFC 9293 section 3.8.6).
  const bool allowed = peer_.beyond(lost.begin) > 0 && window_.allows(board().pipe(), size);
  if (!allowed && !recovery_.forces_retransmission()) return std::nullopt;
  return retransmit({lost.begin, lost.begin + size + (fin ? 1 : 0)}, around, now);
}

// Sends new data if there is any, or else the last segment again (RFC 8985 section 7.3).
std::optional<Transmission> Sender::poll_tail_probe(std::uint16_t room, Environment& around,
                                                    Instant now) {
  auto probe = next() < end() ? poll_new(room, around, now) : std::nullopt;
  const bool retransmission = !probe;
  recovery_.drop_tail_probe();
  if (retransmission && board().outstanding() > 0) {
    const Range last = recovery_.last_sent();
    const std::uint64_t data_end = std::min(last.end, queue_.end());
    std::uint64_t begin = std::max(last.begin, una());
    if (data_end > begin + room) begin = data_end - room;
    probe = retransmit({begin, last.end}, around, now);
  }
  if (probe) recovery_.on_tail_probe_sent(retransmission, around);
  return probe;
}

// `range` must fit into one segment.
Transmission Sender::retransmit(Range range, Environment& around, Instant now) {
  const std::uint64_t size = std::min(range.end, queue_.end()) - range.begin;
  recovery_.on_retransmitted(range, around, now);
  window_.on_sent(now);
  return Transmission{.begin = range.begin,
                      .size = static_cast<std::uint16_t>(size),
                      .fin = range.end > queue_.end(),
                      .push = pushes(range.begin + size),
                      .fresh = false,
                      .reduced = false};
}

}  // namespace satrelay::tcp
