#include "pep/stp/streams/stream_life.h"

#include "pep/base/check.h"

namespace satrelay::stp {

Stream* StreamLife::create(std::uint64_t id, Stream::Phase phase, Own own, Instant now) {
  Stream* stream = parts_.set.insert(id, own);
  if (stream == nullptr) return nullptr;
  stream->phase = phase;
  stream->ready = stream->blocked = stream->released = stream->delivered = false;
  stream->prompt = false;
  stream->open_due = stream->reset_due = false;
  stream->open_acknowledged = stream->reset_acknowledged = stream->final_size_known = false;
  stream->reset_reason = ResetReason::kNone;
  stream->context = 0;
  stream->behind_rest = Behind::kUnknown;
  stream->confirmations = {};
  stream->forget_metadata();
  parts_.receiving.begin(*stream);
  parts_.sending.begin(*stream);
  if (phase != Stream::Phase::kResetting) parts_.set.count_open();
  if (phase == Stream::Phase::kAwaitingOpen) linger(*stream, now);
  return stream;
}

Stream* StreamLife::open(std::uint64_t id, ConstBytes metadata, std::uint32_t context,
                         Instant now) {
  Stream* stream = create(id, Stream::Phase::kOpen, Own::kMemory, now);
  if (stream == nullptr) return nullptr;
  stream->context = context;
  stream->set_metadata(metadata);
  parts_.due.owe_open(*stream);
  return stream;
}

void StreamLife::on_opened(Stream& stream, ConstBytes metadata) {
  if (stream.phase == Stream::Phase::kAwaitingOpen) linger_.remove(stream);
  stream.phase = Stream::Phase::kOpen;
  stream.set_metadata(metadata);
  parts_.events.notify(stream, &Stream::Pending::opened);
  if (stream.receive.bytes().readable() > 0 || stream.receive.complete()) {
    parts_.events.notify(stream, &Stream::Pending::readable);
  }
  if (stream.confirmations.theirs() != Confirmation{}) {
    parts_.events.notify(stream, &Stream::Pending::confirmed);
  }
}

void StreamLife::linger(Stream& stream, Instant now) {
  stream.heat().linger_deadline = now + wait_;
  linger_.push_back(stream);
}

void StreamLife::unlink(Stream& stream) {
  parts_.receiving.credit().forget(stream);
  parts_.sending.forget(stream);
  parts_.due.forget(stream);
  linger_.remove(stream);
}

void StreamLife::erase(Stream& stream) {
  unlink(stream);
  parts_.events.forget(stream);
  if (stream.phase != Stream::Phase::kResetting) {
    // Bytes that were received but never consumed are discarded, so their credit is released.
    parts_.receiving.credit().on_dropped(stream);
    parts_.set.count_over();
  }
  stream.drop_memory();
  stream.receive.reset();
  parts_.sending.schedule().leave(stream);
  stream.forget_hot();
  parts_.set.erase(stream);
}

void StreamLife::reset(Stream& stream, ResetReason reason, Instant now) {
  parts_.events.forget(stream);
  begin_reset(stream, reason, now);
}

void StreamLife::begin_reset(Stream& stream, ResetReason reason, Instant now) {
  SATRELAY_DCHECK(stream.phase != Stream::Phase::kResetting);
  unlink(stream);
  stream.heat().reset_final_size = stream.send.sent();
  stream.reset_reason = reason;
  stream.final_size_known = stream.receive.final_known();
  parts_.receiving.credit().on_dropped(stream);
  stream.drop_memory();
  stream.phase = Stream::Phase::kResetting;
  parts_.set.count_over();
  parts_.due.owe_reset(stream);
  linger(stream, now);
}

void StreamLife::fail(Stream& stream, ResetReason reason, Instant now) {
  const bool told = stream.visible() && !stream.hot().pending.opened && !stream.released;
  reset(stream, reason, now);
  if (told) {
    stream.heat().event_reason = reason;
    parts_.events.notify(stream, &Stream::Pending::reset);
  }
}

void StreamLife::release(Stream& stream, Duration reach, Instant now) {
  stream.released = true;
  stream.ready = false;
  parts_.events.forget(stream);
  if (const std::uint64_t left = stream.receive.bytes().readable(); left > 0) {
    parts_.receiving.consume(stream, left, reach, now);
  }
  linger(stream, now);
  parts_.sending.update_active(stream);
  free_if_over(stream);
}

void StreamLife::free_if_over(Stream& stream) {
  if (stream.phase == Stream::Phase::kResetting) {
    if (stream.reset_acknowledged && stream.final_size_known && !stream.hot().pending.any())
      erase(stream);
  } else if (stream.released && stream.send.done() && stream.receive.complete()) {
    erase(stream);
  }
}

std::size_t StreamLife::run_linger(const PathSince& path, Instant now) {
  // Maximum number of streams that one call handles. The others stay due for the next call.
  constexpr std::size_t kStreamsPerTimeout = 64;
  std::size_t resets = 0;
  for (std::size_t i = 0; i < kStreamsPerTimeout; ++i) {
    if (linger_.empty() || now < linger_.front()->hot().linger_deadline) break;
    Stream& stream = *linger_.front();
    parts_.work.add();
    linger_.remove(stream);
    // If the path was silent, the missing OPEN or the end of the stream may have been retransmitted
    // only recently. So the stream waits again.
    const Instant since = stream.phase == Stream::Phase::kAwaitingOpen ? path.heard : path.reached;
    if (since.is_never() || now < since + wait_) {
      linger(stream, now);
    } else if (stream.phase == Stream::Phase::kResetting) {
      erase(stream);
    } else {
      ++resets;
      begin_reset(stream, ResetReason::kTimeout, now);
    }
  }
  return resets;
}

}  // namespace satrelay::stp
