#include "pep/tcp/sending/sender.h"

#include <algorithm>

#include "pep/base/check.h"

namespace satrelay::tcp {
namespace {

// The payload of the smallest packet that each host and link must take (68 octets, RFC 791).
constexpr std::uint64_t kLeastSegment = 68 - 20 - 20;

}  // namespace

std::size_t Sender::write(ConstBytes bytes) {
  // Leaves the blocks that are reserved for received data, so that the two halves never block each
  // other.
  const std::uint64_t free = around_.arena().free_blocks();
  const std::uint64_t kept = around_.reserve_blocks;
  const std::uint64_t room = queue_.room(free > kept ? free - kept : 0);
  const std::uint64_t count = std::min({std::uint64_t{bytes.size()}, writable(), room});
  return count > 0 ? queue_.append(bytes.first(count)) : 0;
}

std::uint64_t Sender::writable() const {
  if (closed_ || queue_.size() >= profile().send_limit) return 0;
  return profile().send_limit - queue_.size();
}

UrgentMarks::Added Sender::mark_urgent(std::uint64_t mark) {
  using Added = UrgentMarks::Added;
  if (closed_ || mark <= queue_.end()) return Added::kNothing;
  if (!in_flight().urgent) in_flight().urgent = std::make_unique<UrgentMarks>();
  const Added added = in_flight().urgent->add(mark, queue_.end());
  if (added == Added::kNothing) return added;
  if (added != Added::kMoved) ++counters().urgent_marks_out;
  if (added == Added::kMerged) ++counters().urgent_marks_merged;
  if (established_ && peer_edge_ <= una() && urgent_beyond(una()) == mark) {
    urgent_probe_owed_ = true;
  }
  return added;
}

void Sender::drop() {
  closed_ = fin_acknowledged();
  queue_.reset();
  queue_.disown();
}

void Sender::establish(const Established& parameters) {
  segment_size_ = parameters.segment_size;
  selective_ = parameters.selective;
  peer_edge_ = parameters.window;
  largest_window_ = parameters.window;
  established_ = true;
}

void Sender::make_controller() {
  controller_ = control::make_window_controller(profile().congestion, segment_size_);
}

void Sender::begin_flight(Instant now) {
  // After an idle time the shortest RTT of the path is no longer known.
  if (rtt_.has_sample()) in_flight().rack.take_rtt(rtt_.smoothed(), now);
}

void Sender::trim() {
  queue_.trim();
  board_.trim();
  if (in_flight_) in_flight_->rack.segments().trim();
  const bool quiet = board_.outstanding() == 0 && !timers().armed(Timer::kPersist);
  if (!quiet || recovery_ != Recovery::kOpen) return;
  if (in_flight_ && in_flight_->rack.is_plain() && !is_urgent()) in_flight_.reset();
  if (controller_ && controller_->slow_start_threshold() == control::kNoThreshold) {
    controller_.reset();
  }
}

bool Sender::has_work() const {
  return board_.next() < end() || board_.has_lost() || tail_probe_owed_;
}

bool Sender::congestion_allows(std::uint64_t bytes) const {
  const std::uint64_t pipe = board_.pipe();
  return pipe == 0 || pipe + bytes <= congestion_window();
}

std::size_t Sender::room_for_segments() const {
  return selective_ && in_flight_ ? in_flight_->rack.segments().room() : SentSegments::kMost;
}

void Sender::restart_retransmission_timer(Instant now) {
  timers().arm(Timer::kRetransmission, now + rtt_.rto());
}

// RFC 8985 section 7.2: called when new data is sent or acknowledged. Arms the probe only while no
// segment is known to be missing.
void Sender::schedule_probe(Instant now) {
  if (!selective_) return;
  const bool wanted = board_.outstanding() > 0 && recovery_ == Recovery::kOpen &&
                      !board_.has_sacked() && !probe_in_flight();
  if (!wanted) return timers().cancel(Timer::kProbe);
  const Duration timeout = TailLossProbe::timeout(
      rtt_.smoothed(), in_flight().rack.segments().size() == 1, profile().minimum_rto);
  timers().arm(Timer::kProbe, earlier(now + timeout, timers().deadline(Timer::kRetransmission)));
}

std::optional<Transmission> Sender::poll(std::uint16_t room, Instant now) {
  if (board_.has_lost()) return poll_lost(room, now);
  if (tail_probe_owed_) [[unlikely]] {
    return poll_probe(room, now);
  }
  if (board_.next() < end()) {
    if (auto segment = poll_new(room, now)) return segment;
    arm_persist_if_blocked(now);
  }
  return std::nullopt;
}

// A segment has one urgent pointer, so the segment ends at the mark that it points to.
std::uint16_t Sender::room_until_mark(std::uint64_t begin, std::uint16_t room) const {
  const std::uint64_t mark = urgent_beyond(begin);
  return mark == 0 ? room : static_cast<std::uint16_t>(std::min<std::uint64_t>(room, mark - begin));
}

// Whether a segment that ends at `end` gets PSH: it ends the data written so far, or at an urgent
// mark.
bool Sender::pushes(std::uint64_t end) const {
  return end == queue_.end() || (is_urgent() && urgent_beyond(end - 1) == end);
}

std::optional<Transmission> Sender::poll_new(std::uint16_t room, Instant now) {
  const std::uint64_t begin = board_.next();
  room = room_until_mark(begin, room);
  const std::uint64_t data = queue_.end() - begin;
  const std::uint64_t usable = peer_edge_ > begin ? peer_edge_ - begin : 0;
  const std::uint64_t size = std::min({data, std::uint64_t{room}, usable});
  const bool fin = closed_ && size == data && usable > size;
  if (size == 0 && !fin) return std::nullopt;
  // Silly window avoidance, RFC 9293 section 3.8.6.2.1: send a full segment, all there is, or half
  // the largest window the peer ever offered. A host that never offers more than a few octets gets
  // data at the pace of the override timer.
  const std::uint64_t half = std::max((largest_window_ + 1) / 2, kLeastSegment);
  const bool worthwhile = size == room || size == data || size >= half || override_;
  if (!worthwhile) return std::nullopt;
  if (begin == board_.una() && last_sent_ + rtt_.rto() < now && controller_) {
    controller_->on_idle_restart();
  }
  if (!congestion_allows(size) && !tail_probe_owed_) return std::nullopt;
  if (room_for_segments() == 0) return std::nullopt;

  note_sent({begin, begin + size + (fin ? 1 : 0)}, now);
  begin_waiting(now);
  return Transmission{.begin = begin,
                      .size = static_cast<std::uint16_t>(size),
                      .fin = fin,
                      .push = pushes(begin + size),
                      .fresh = true,
                      .reduced = std::exchange(reduction_to_tell_, false)};
}

std::size_t Sender::poll_run(std::uint16_t room, std::size_t most, Instant now) {
  const std::uint64_t pipe = board_.pipe();
  const std::uint64_t window = congestion_window();
  const std::uint64_t begin = board_.next();
  const bool is_plain = pipe > 0 && !board_.has_lost() && !tail_probe_owed_ && !reduction_to_tell_;
  if (!is_plain || pipe >= window || peer_edge_ <= begin || queue_.end() <= begin) return 0;
  const std::uint64_t fit =
      std::min({window - pipe, peer_edge_ - begin, queue_.end() - begin - 1}) / room;
  const std::size_t count = std::min<std::uint64_t>({most, fit, room_for_segments()});
  if (count == 0) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    note_sent({begin + i * room, begin + (i + 1) * room}, now);
  }
  begin_waiting(now);
  return count;
}

// Records new data as sent, directly behind all before.
void Sender::note_sent(Range range, Instant now) {
  board_.on_sent(range.end);
  // There may be an InFlight without a minimum RTT: data waited at a closed window, or is marked
  // urgent.
  if (!in_flight_ || !in_flight_->rack.has_minimum_rtt()) [[unlikely]]
    begin_flight(now);
  InFlight& sent = in_flight();
  if (selective_) sent.rack.segments().on_sent(range, now);
  if (sent.timed_at.is_never()) {
    sent.timed_at = now;
    sent.timed_end = range.end;
  }
}

// Starts to wait for the acknowledgment of new data.
void Sender::begin_waiting(Instant now) {
  override_ = false;
  if (!timers().armed(Timer::kRetransmission)) restart_retransmission_timer(now);
  if (timers().armed(Timer::kPersist)) timers().cancel(Timer::kPersist);
  last_sent_ = now;
  schedule_probe(now);
}

std::optional<Transmission> Sender::poll_lost(std::uint16_t room, Instant now) {
  const Range lost = board_.first_lost();
  room = room_until_mark(lost.begin, room);
  const std::uint64_t data_end = std::min(lost.end, queue_.end());
  const std::uint64_t data = data_end - std::min(lost.begin, data_end);
  const std::uint64_t size = std::min(data, std::uint64_t{room});
  const bool fin = size == data && lost.end > queue_.end();
  // Data beyond a window that shrank must wait. Only its first segment is sent, as a probe, upon
  // the retransmission timer (RFC 9293 section 3.8.6).
  if (!force_ && (peer_edge_ <= lost.begin || !congestion_allows(size))) return std::nullopt;

  force_ = false;
  return retransmit({lost.begin, lost.begin + size + (fin ? 1 : 0)}, now);
}

// New data if there is any, else the last segment once more (RFC 8985 section 7.3).
std::optional<Transmission> Sender::poll_probe(std::uint16_t room, Instant now) {
  auto probe = board_.next() < end() ? poll_new(room, now) : std::nullopt;
  const bool retransmission = !probe;
  tail_probe_owed_ = false;
  if (retransmission && board_.outstanding() > 0) {
    const Range last = in_flight().rack.segments().last();
    const std::uint64_t data_end = std::min(last.end, queue_.end());
    std::uint64_t begin = std::max(last.begin, una());
    if (data_end > begin + room) begin = data_end - room;
    probe = retransmit({begin, last.end}, now);
  }
  if (!probe) return std::nullopt;
  ++counters().tail_loss_probes;
  in_flight().probe.on_sent(board_.next(), retransmission);
  timers().cancel(Timer::kProbe);
  return probe;
}

// `range` fits into a segment.
Transmission Sender::retransmit(Range range, Instant now) {
  const std::uint64_t size = std::min(range.end, queue_.end()) - range.begin;
  const bool fin = range.end > queue_.end();
  board_.on_retransmitted(range);
  if (selective_) in_flight().rack.segments().on_retransmitted(range, now);
  // Karn: a segment that may have been sent twice is not timed.
  if (range.begin < in_flight().timed_end) in_flight().timed_at = Instant::never();
  if (range.begin == una() || !timers().armed(Timer::kRetransmission)) {
    restart_retransmission_timer(now);
  }
  last_sent_ = now;
  ++counters().retransmitted_segments;
  return Transmission{.begin = range.begin,
                      .size = static_cast<std::uint16_t>(size),
                      .fin = fin,
                      .push = pushes(range.begin + size),
                      .fresh = false,
                      .reduced = false};
}

// The closed window of the peer opens. Usually the sender fills it at once, which ends the wait. A
// window of a few octets waits for the timer. The timer never moves to a later time, or a host that
// sends often would postpone it for ever.
void Sender::hasten_override(Instant now) {
  in_flight().persist_interval = std::max(rtt_.rto(), profile().minimum_rto);
  timers().arm(Timer::kPersist,
               earlier(timers().deadline(Timer::kPersist), now + in_flight().persist_interval));
}

void Sender::arm_persist_if_blocked(Instant now) {
  // If data is in flight, an ACK or the retransmission timer comes first. If none is, only the
  // peer's window can block the sender.
  if (board_.outstanding() > 0 || timers().armed(Timer::kPersist)) return;
  in_flight().persist_interval = std::max(rtt_.rto(), profile().minimum_rto);
  timers().arm(Timer::kPersist, now + in_flight().persist_interval);
}

}  // namespace satrelay::tcp
