#include <algorithm>

#include "pep/base/check.h"
#include "pep/stp/session_impl.h"

namespace satrelay::stp {

Stream* Session::Impl::visible(StreamId id) const {
  Stream* stream = streams.find(static_cast<std::uint64_t>(id));
  return stream != nullptr && stream->visible() && !stream->released ? stream : nullptr;
}

Stream* Session::Impl::create_stream(std::uint64_t id, Stream::Phase phase) {
  Stream* stream = streams.insert(id);
  if (stream == nullptr) return nullptr;
  stream->phase = phase;
  stream->ready = stream->blocked = stream->released = stream->delivered = false;
  stream->credit_urgent = stream->open_due = stream->reset_due = false;
  stream->open_acknowledged = stream->reset_acknowledged = stream->final_size_known = false;
  stream->reset_reason = stream->event_reason = ResetReason::kNone;
  stream->context = 0;
  stream->weight = 1;
  stream->deficit = 0;
  stream->reset_final_size = 0;
  stream->pending = {};
  stream->confirmations = {};
  stream->metadata_size = 0;
  stream->send.raise_limit(handshake.peer().stream_credit);
  stream->receive.grant(config.stream_receive_limit);
  if (phase != Stream::Phase::kResetting) ++open_count;
  if (phase == Stream::Phase::kAwaitingOpen) {
    stream->linger_deadline = now + config.stream_linger;
    linger.push_back(*stream);
  }
  return stream;
}

void Session::Impl::unlink(Stream& stream) {
  schedule.remove(stream);
  opens.remove(stream);
  fins.remove(stream);
  resets.remove(stream);
  credits.remove(stream);
  confirms.remove(stream);
  linger.remove(stream);
  memory_waiters.remove(stream);
}

void Session::Impl::free_stream(Stream& stream) {
  unlink(stream);
  events.remove(stream);
  if (stream.phase != Stream::Phase::kResetting) {
    // What was received and never consumed is discarded: its credit returns.
    lane_receive.on_released(stream.receive.charged() - stream.receive.consumed());
    --open_count;
  }
  stream.send.reset();
  stream.receive.reset();
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
  lane_receive.on_released(stream.receive.charged() - stream.receive.consumed());
  stream.receive.discard();
  stream.send.reset();
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
  lane_receive.on_released(count);
  lane_receive.update(free_memory());
  if (lane_receive.capped() && memory_check.is_never()) {
    memory_check = now + config.feedback_minimum;
  }
  if (stream.receive.final_known()) return;
  const std::uint64_t window = stream_window(stream);
  if (stream.receive.consumed() + window >=
      stream.receive.granted() + std::max<std::uint64_t>(1, window / 16)) {
    credits.push_back(stream);
  }
}

// What the peer may have stored here of one stream, or on its way.
std::uint64_t Session::Impl::stream_window(Stream& stream) const {
  return stream.receive.window(config.stream_receive_limit, rtt.smoothed() + feedback.interval(),
                               now);
}

void Session::Impl::mark_blocked(Stream& stream) {
  stream.blocked = true;
  // Acknowledgements of its own bytes wake a stream, unless the arena is what it lacks.
  const std::uint64_t stored = stream.send.stored();
  if (stored >= config.stream_send_limit || room(stream) >= config.stream_send_limit - stored) {
    return;
  }
  memory_waiters.push_back(stream);
  if (memory_check.is_never()) memory_check = now + config.feedback_minimum;
}

// Keeps the stream in the list of those that the scheduler can serve, or out of it.
void Session::Impl::update_active(Stream& stream) {
  const bool has_bytes = stream.send.unsent() > 0;
  const bool serves = stream.phase == Stream::Phase::kOpen && stream.send.credit() > 0 &&
                      (has_bytes || (stream.ready && !stream.blocked && !stream.send.finished()));
  schedule.set_new(stream, serves);
  if (stream.phase == Stream::Phase::kOpen && stream.send.fin_due()) {
    fins.push_back(stream);
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
  if (room(stream) == 0) {
    // There may be nothing left in flight that could wake it, and it is the arena that is full now.
    mark_blocked(stream);
    return;
  }
  stream.blocked = false;
  memory_waiters.remove(stream);
  notify(stream, &Stream::Pending::writable);
  update_active(stream);
}

}  // namespace satrelay::stp
