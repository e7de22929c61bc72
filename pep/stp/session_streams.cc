#include <algorithm>

#include "pep/base/check.h"
#include "pep/stp/session_impl.h"

namespace satrelay::stp {
namespace {

// A reader that pauses for less is not taken for one that does not read.
constexpr Duration kPause = Duration::milliseconds(200);
// Of the streams that wait for the lane's credit, woken at a time.
constexpr int kMostWoken = 16;

}  // namespace

Stream* Session::Impl::visible(StreamId id) const {
  Stream* stream = streams.find(static_cast<std::uint64_t>(id));
  return stream != nullptr && stream->visible() && !stream->released ? stream : nullptr;
}

Stream* Session::Impl::create_stream(std::uint64_t id, Stream::Phase phase, Own own) {
  Stream* stream = streams.insert(id);
  if (stream == nullptr) return nullptr;
  SATRELAY_CHECK(own == Own::kNothing || !config.reserves || stream->own_memory());
  stream->phase = phase;
  stream->ready = stream->blocked = stream->released = stream->delivered = false;
  stream->open_due = stream->reset_due = false;
  stream->open_acknowledged = stream->reset_acknowledged = stream->final_size_known = false;
  stream->reset_reason = stream->event_reason = ResetReason::kNone;
  stream->context = 0;
  stream->room_needed = 1;
  stream->deficit = 0;
  stream->reset_final_size = 0;
  schedule.join(*stream, 0, 0);
  stream->pending = {};
  stream->confirmations = {};
  stream->metadata_size = 0;
  stream->reader_needs = 0;
  stream->receive.promise(config.stream_receive_limit);
  stream->lane_share = {};
  lane_shares.update(stream->lane_share, true, 0);
  if (phase != Stream::Phase::kResetting) ++open_count;
  if (phase == Stream::Phase::kAwaitingOpen) {
    stream->linger_deadline = now + config.stream_linger;
    linger.push_back(*stream);
  }
  return stream;
}

void Session::Impl::unlink(Stream& stream) {
  parked.forget(stream);
  schedule.remove(stream);
  opens.remove(stream);
  fins.remove(stream);
  resets.remove(stream);
  credits.remove(stream);
  confirms.remove(stream);
  linger.remove(stream);
  memory_waiters.remove(stream);
  lane_waiters.remove(stream);
  lane_shares.update(stream.lane_share, false, 0);
}

void Session::Impl::free_stream(Stream& stream) {
  unlink(stream);
  events.remove(stream);
  if (stream.phase != Stream::Phase::kResetting) {
    // What was received and never consumed is discarded: its credit returns.
    connection->lane_receive.on_released(stream.receive.charged() - stream.receive.consumed());
    --open_count;
  }
  stream.drop_memory();
  stream.receive.reset();
  schedule.leave(stream);
  stream.phase = Stream::Phase::kFree;
  stream.generation = (stream.generation + 1) & SentItem::kGenerationMask;
  streams.erase(stream);
}

void Session::Impl::begin_reset(Stream& stream, ResetReason reason) {
  SATRELAY_DCHECK(stream.phase != Stream::Phase::kResetting);
  unlink(stream);
  stream.reset_final_size = stream.send.sent();
  stream.reset_reason = reason;
  stream.final_size_known = stream.receive.final_known();
  connection->lane_receive.on_released(stream.receive.charged() - stream.receive.consumed());
  stream.drop_memory();
  stream.phase = Stream::Phase::kResetting;
  --open_count;
  stream.reset_due = true;
  resets.push_back(stream);
  stream.linger_deadline = now + config.stream_linger;
  linger.push_back(stream);
}

// Ends a stream from within: the relay learns of it as of a reset by the peer.
void Session::Impl::fail_stream(Stream& stream, ResetReason reason) {
  const bool told = stream.visible() && !stream.pending.opened && !stream.released;
  events.remove(stream);
  stream.pending = {};
  begin_reset(stream, reason);
  if (told) {
    stream.event_reason = reason;
    notify(stream, &Stream::Pending::reset);
  }
}

void Session::Impl::free_if_over(Stream& stream) {
  if (stream.phase == Stream::Phase::kResetting) {
    if (stream.reset_acknowledged && stream.final_size_known && !stream.pending.any()) {
      free_stream(stream);
    }
  } else if (stream.released && stream.send.done() && stream.receive.complete()) {
    free_stream(stream);
  }
}

void Session::Impl::consume(Stream& stream, std::uint64_t count) {
  stream.receive.consume(count, now);
  stream.receive.taken().add(count, kPause, now);
  stream.reader_needs = 0;
  parked.on_taken(stream, now);
  connection->lane_receive.on_released(count);
  connection->lane_receive.update(free_memory());
  if (connection->lane_receive.capped() && connection->memory_check.is_never()) {
    connection->memory_check = now + config.feedback_minimum;
  }
  if (stream.receive.final_known()) return;
  const std::uint64_t window = stream_window(stream);
  const std::uint64_t step = window / (connection->start_credit.lowered() ? 4 : 16);
  const bool more = stream.receive.consumed() + window >=
                    std::max(stream.receive.told(), connection->start_credit.current()) +
                        std::max<std::uint64_t>(1, step);
  // Where bytes that nobody reads hold the lane's credit, the peer goes on with its share of the
  // lane for as long as it hears that this reader reads.
  const bool reads = connection->start_credit.lowered() &&
                     connection->lane_receive.promised() < config.lane_receive_limit / 2 &&
                     stream.receive.consumed_since_told() >= LaneShares::kShare / 2;
  if (more || reads) credits.push_back(stream);
}

// What the peer may have stored here of one stream, or on its way.
std::uint64_t Session::Impl::stream_window(Stream& stream) {
  const std::uint64_t window =
      stream.receive.window(config.stream_receive_limit, reach_of_credit(), now);
  if (!connection->start_credit.lowered()) return window;
  // Other readers do not read. This one gets what it needs to go on and to become faster, and no
  // more than half of what is left, as it may be the next to pause.
  const double reach = reach_of_credit().to_seconds() / kPause.to_seconds();
  const auto pace = static_cast<std::uint64_t>(
      static_cast<double>(stream.receive.taken().amount(kPause, now)) * reach * 2);
  // The eighth that is everybody's least is not what is left.
  const std::uint64_t most = config.lane_receive_limit / 8 * 7;
  const std::uint64_t left = most - std::min(most, parked.total(kPause, now));
  return std::min(window,
                  std::max({least_credit(), std::min(pace, left / 2), stream.reader_needs}));
}

// What every stream may have stored here, however many they are: an eighth of the lane for all.
std::uint64_t Session::Impl::least_credit() const {
  return std::max(LaneShares::kShare,
                  config.lane_receive_limit / 8 / std::max<std::uint64_t>(1, open_count));
}

void Session::Impl::set_reader_needs(Stream& stream, std::uint64_t bytes) {
  stream.reader_needs = bytes;
  parked.on_taken(stream, now);
  if (!stream.receive.final_known() &&
      stream.receive.consumed() + bytes >
          std::max(stream.receive.told(), connection->start_credit.current())) {
    credits.push_back(stream);
  }
}

// A quarter of the lane may lie before readers that do not read; the nearer it comes to that, the
// less may be sent of a stream whose reader is not known yet.
void Session::Impl::update_start_credit() {
  const std::uint64_t lane = config.lane_receive_limit;
  const std::uint64_t waits = parked.total(kPause, now);
  std::uint64_t wanted = config.stream_receive_limit;
  if (waits > 0) {
    const double left = 1.0 - 4.0 * static_cast<double>(waits) / static_cast<double>(lane);
    wanted = std::max(least_credit(), static_cast<std::uint64_t>(static_cast<double>(wanted) *
                                                                 std::max(0.0, left)));
    wanted = std::min(wanted, config.stream_receive_limit);
  }
  const std::uint64_t before = connection->start_credit.current();
  if (!connection->start_credit.change(wanted) || connection->start_credit.current() > before)
    return;
  first_credits.begin(streams.slot_count());
  give_first_credits();
}

void Session::Impl::mark_blocked(Stream& stream) {
  stream.blocked = true;
  // Acknowledgements of its own bytes wake a stream, unless the arena is what it lacks.
  const std::uint64_t stored = stream.send.stored();
  if (stored >= config.stream_send_limit || room(stream) >= config.stream_send_limit - stored) {
    return;
  }
  memory_waiters.push_back(stream);
  if (connection->memory_check.is_never()) connection->memory_check = now + config.feedback_minimum;
}

void Session::Impl::on_written(Stream& stream) {
  stream.room_needed = 1;
  if (!has_room(stream) && !stream.send.finished()) mark_blocked(stream);
  update_active(stream);
}

// Keeps the stream in the list of those that the scheduler can serve, or out of it.
void Session::Impl::update_active(Stream& stream) {
  const bool has_bytes = stream.send.unsent() > 0;
  const bool is_open = stream.phase == Stream::Phase::kOpen;
  lane_shares.update(stream.lane_share, is_open && (has_bytes || !stream.send.finished()),
                     stream.send.sent());
  const bool wants = is_open && stream.send.credit(connection->peer_start_credit.limit()) > 0 &&
                     (has_bytes || (stream.ready && !stream.blocked && !stream.send.finished()));
  // With no credit left for anybody the schedule keeps it.
  const bool waits = wants && connection->lane_send.available() > 0 && lane_available(stream) == 0;
  schedule.set_new(stream, wants && !waits);
  waits ? lane_waiters.push_back(stream) : lane_waiters.remove(stream);
  if (stream.phase == Stream::Phase::kOpen && stream.send.fin_due()) {
    fins.push_back(stream);
  }
}

void Session::Impl::wake_lane_waiters() {
  for (int i = 0; i < kMostWoken && !lane_waiters.empty(); ++i) {
    if (lane_shares.beyond_shares(connection->lane_send.available()) == 0) return;
    Stream& stream = *lane_waiters.front();
    work.add();
    lane_waiters.remove(stream);
    update_active(stream);
  }
}

void Session::Impl::notify(Stream& stream, bool Stream::Pending::*event) {
  if (stream.released) return;
  stream.pending.*event = true;
  events.push_back(stream);
}

// Bytes of the stream were acknowledged.
void Session::Impl::on_send_progress(Stream& stream) {
  schedule.update_lost(stream);
  if (stream.send.done() && !stream.delivered) {
    stream.delivered = true;
    notify(stream, &Stream::Pending::delivered);
    free_if_over(stream);
    return;
  }
  if (!stream.blocked) return;
  if (!has_room(stream)) {
    // There may be nothing left in flight that could wake it, and it is the arena that is full now.
    mark_blocked(stream);
    return;
  }
  stream.blocked = false;
  memory_waiters.remove(stream);
  notify(stream, &Stream::Pending::writable);
  update_active(stream);
}

bool Session::write_whole(StreamId stream, std::span<const ConstBytes> parts, Instant now) {
  impl_->now = now;
  Stream* s = impl_->visible(stream);
  if (s == nullptr) return false;
  std::uint64_t size = 0;
  for (const ConstBytes part : parts) size += part.size();
  const bool fits = impl_->room(*s) >= size;
  for (const ConstBytes part : parts) {
    if (!fits) break;
    const std::size_t stored =
        s->send.write(part, impl_->config.stream_send_limit, impl_->kept_for_receiving());
    // Room is exact; and the far side would take what follows a hole for something else.
    SATRELAY_CHECK(stored == part.size());
  }
  if (!fits) {
    if (!s->send.finished()) impl_->mark_blocked(*s);
    impl_->update_active(*s);
    return false;
  }
  impl_->on_written(*s);
  return true;
}

void Session::wait_for_room(StreamId stream, std::uint64_t bytes, Instant now) {
  impl_->now = now;
  Stream* s = impl_->visible(stream);
  if (s == nullptr || s->send.finished()) return;
  s->room_needed =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, impl_->config.stream_send_limit));
  if (!impl_->has_room(*s)) impl_->mark_blocked(*s);
  impl_->update_active(*s);
}

}  // namespace satrelay::stp
