#include "pep/tcp/sender.h"

#include <algorithm>

#include "pep/base/check.h"
#include "pep/tcp/memory_reserve.h"

namespace satrelay::tcp {

Sender::Sender(const Config& config, Arena& arena, Timers& timers, Counters& counters)
    : config_(config),
      arena_(arena),
      timers_(timers),
      counters_(counters),
      queue_(arena),
      rtt_({config.minimum_rto, config.maximum_rto, config.initial_rto}),
      reserve_blocks_(reserve_blocks(arena, config.mss)) {}

std::size_t Sender::write(ConstBytes bytes) {
  const std::uint64_t block = arena_.block_size();
  const std::uint64_t free = arena_.free_blocks();
  // What is left of the last block, which an empty queue does not hold.
  const std::uint64_t tail =
      queue_.empty() ? 0 : (block - (queue_.end() & (block - 1))) & (block - 1);
  const std::uint64_t room = tail + (free > reserve_blocks_ ? free - reserve_blocks_ : 0) * block;
  const std::uint64_t count = std::min({std::uint64_t{bytes.size()}, writable(), room});
  return count > 0 ? queue_.append(bytes.first(count)) : 0;
}

std::uint64_t Sender::writable() const {
  if (closed_ || queue_.size() >= config_.send_limit) return 0;
  return config_.send_limit - queue_.size();
}

void Sender::drop() { queue_.reset(); }

void Sender::establish(const Established& parameters) {
  segment_size_ = parameters.segment_size;
  selective_ = parameters.selective;
  board_.set_selective(selective_);
  peer_edge_ = parameters.window;
  largest_window_ = parameters.window;
  controller_ = control::make_window_controller(config_.congestion, parameters.segment_size);
}

bool Sender::has_work() const {
  return board_.next() < end() || board_.has_lost() || recovery_ == Recovery::kFast;
}

bool Sender::congestion_allows(std::uint64_t bytes) const {
  const std::uint64_t pipe = board_.pipe();
  return pipe == 0 || pipe + bytes <= controller_->window();
}

void Sender::restart_retransmission_timer(Instant now) {
  timers_.arm(Timer::kRetransmission, now + rtt_.rto());
}

std::optional<Transmission> Sender::poll(std::uint16_t room, Instant now) {
  if (board_.has_lost()) return poll_lost(room, now);
  if (board_.next() < end()) {
    if (auto segment = poll_new(room, now)) return segment;
    arm_persist_if_blocked(now);
  }
  return recovery_ == Recovery::kFast ? poll_rescue(room, now) : std::nullopt;
}

std::optional<Transmission> Sender::poll_new(std::uint16_t room, Instant now) {
  const std::uint64_t begin = board_.next();
  const std::uint64_t data = queue_.end() - begin;
  const std::uint64_t usable = peer_edge_ > begin ? peer_edge_ - begin : 0;
  const std::uint64_t size = std::min({data, std::uint64_t{room}, usable});
  const bool fin = closed_ && size == data && usable > size;
  if (size == 0 && !fin) return std::nullopt;
  // Silly window avoidance, RFC 9293 section 3.8.6.2.1: a full segment, all there is, or half the
  // largest window the peer ever offered.
  const bool worthwhile = size == room || size == data || size * 2 >= largest_window_ || override_;
  if (!worthwhile) return std::nullopt;
  if (begin == board_.una() && last_sent_ + rtt_.rto() < now) controller_->on_idle_restart();
  if (!congestion_allows(size)) return std::nullopt;

  override_ = false;
  const std::uint64_t end = begin + size + (fin ? 1 : 0);
  board_.on_sent(end);
  if (timed_at_.is_never()) {
    timed_at_ = now;
    timed_end_ = end;
  }
  if (!timers_.armed(Timer::kRetransmission)) restart_retransmission_timer(now);
  if (timers_.armed(Timer::kPersist)) timers_.cancel(Timer::kPersist);
  last_sent_ = now;
  return Transmission{begin, static_cast<std::uint16_t>(size), fin, size == data};
}

std::optional<Transmission> Sender::poll_lost(std::uint16_t room, Instant now) {
  const Range lost = board_.first_lost();
  const std::uint64_t data_end = std::min(lost.end, queue_.end());
  const std::uint64_t data = data_end - std::min(lost.begin, data_end);
  const std::uint64_t size = std::min(data, std::uint64_t{room});
  const bool fin = size == data && lost.end > queue_.end();
  // A window that closed over what was sent is probed with the first segment, by the timer.
  if (!force_ && (peer_edge_ <= una() || !congestion_allows(size))) return std::nullopt;

  force_ = false;
  const Range range{lost.begin, lost.begin + size + (fin ? 1 : 0)};
  board_.on_retransmitted(range);
  // Karn: nothing that may have been sent twice is timed.
  if (range.begin < timed_end_) timed_at_ = Instant::never();
  if (lost.begin == una() || !timers_.armed(Timer::kRetransmission)) {
    restart_retransmission_timer(now);
  }
  last_sent_ = now;
  ++counters_.retransmitted_segments;
  return Transmission{range.begin, static_cast<std::uint16_t>(size), fin,
                      range.begin + size == queue_.end()};
}

std::optional<Transmission> Sender::poll_rescue(std::uint16_t room, Instant now) {
  const auto hole = board_.first_hole(rescued_below_);
  if (!hole || !congestion_allows(std::min<std::uint64_t>(hole->size(), room))) return std::nullopt;
  const Range part{hole->begin, hole->begin + std::min<std::uint64_t>(hole->size(), room)};
  rescued_below_ = part.end;
  board_.take_for_lost(part);
  return poll_lost(room, now);
}

void Sender::arm_persist_if_blocked(Instant now) {
  // With data in flight an ACK or the retransmission timer comes first; with none, only the peer's
  // window can be what blocks.
  if (board_.outstanding() > 0 || timers_.armed(Timer::kPersist)) return;
  persist_interval_ = std::max(rtt_.rto(), config_.minimum_rto);
  timers_.arm(Timer::kPersist, now + persist_interval_);
}

TimeoutOutcome Sender::handle_persist_timeout(Instant now) {
  if (board_.outstanding() > 0 || board_.next() >= end()) return TimeoutOutcome::kContinues;
  if (probes_unanswered_ >= config_.data_retries) return TimeoutOutcome::kGivesUp;
  persist_interval_ = std::min(persist_interval_ * 2, config_.maximum_rto);
  timers_.arm(Timer::kPersist, now + persist_interval_);
  if (peer_edge_ > board_.next()) {
    override_ = true;
    return TimeoutOutcome::kContinues;
  }
  ++probes_unanswered_;
  ++counters_.zero_window_probes;
  probe_owed_ = true;
  return TimeoutOutcome::kContinues;
}

TimeoutOutcome Sender::handle_retransmission_timeout(Instant now) {
  if (board_.outstanding() == 0) return TimeoutOutcome::kContinues;
  if (retries_ >= config_.data_retries) return TimeoutOutcome::kGivesUp;
  ++retries_;
  ++counters_.retransmission_timeouts;
  rtt_.back_off();
  // A closed window, not the path, may be why nothing was acknowledged.
  if (peer_edge_ > una()) controller_->on_timeout({board_.outstanding(), now});
  board_.mark_all_lost();
  recovery_ = Recovery::kLoss;
  recovery_point_ = board_.next();
  duplicates_ = 0;
  force_ = true;
  timed_at_ = Instant::never();
  restart_retransmission_timer(now);
  return TimeoutOutcome::kContinues;
}

}  // namespace satrelay::tcp
