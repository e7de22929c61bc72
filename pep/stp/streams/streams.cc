#include "pep/stp/streams/streams.h"

#include <cstring>
#include <memory>
#include <utility>

#include "pep/base/check.h"

namespace satrelay::stp {

Streams::Streams(const Config& config, Arena& arena, WorkCount& work, std::uint64_t promised)
    : config_(config),
      arena_(arena),
      work_(work),
      // Slots beyond max_streams are for streams that wait for the end of their reset, and for
      // refusals.
      table_(arena, config.max_streams + config.max_streams / 4 + 64, config.hash_secret),
      schedule_(config.least_turn, config.host_shares),
      receive_credit_({config.lane_receive_limit, config.stream_receive_limit}, arena, promised) {}

void Streams::start(std::uint64_t lane_credit, std::uint64_t stream_credit, Instant now) {
  send_credit_.start(lane_credit, stream_credit);
  if (receive_credit_.is_short()) memory_check_ = now + config_.memory_interval;
}

void Streams::leave_to(RetiredStreams& retired_streams) {
  if (table_.slot_count() == 0) return;
  const bool few = table_.slot_count() <= RetiredStreams::kStreamsPerStep;
  retired_streams.add(std::move(table_), std::move(schedule_));
  if (few) retired_streams.go_on(work_);  // the next association begins with their memory
}

// --- the life of a stream ------------------------------------------------------------------------

Stream* Streams::create(std::uint64_t id, Stream::Phase phase, Own own, Instant now) {
  Stream* stream = table_.insert(id);
  if (stream == nullptr) return nullptr;
  SATRELAY_CHECK(own == Own::kNothing || !config_.reserves || stream->own_memory());
  stream->phase = phase;
  stream->ready = stream->blocked = stream->released = stream->delivered = false;
  stream->prompt = false;
  stream->open_due = stream->reset_due = false;
  stream->open_acknowledged = stream->reset_acknowledged = stream->final_size_known = false;
  stream->reset_reason = ResetReason::kNone;
  stream->context = 0;
  stream->behind_rest = Behind::kUnknown;
  schedule_.join(*stream, 0, 0);
  stream->confirmations = {};
  stream->forget_metadata();
  stream->receive.promise(config_.stream_receive_limit);
  send_credit_.begin_share(*stream);
  if (phase != Stream::Phase::kResetting) ++open_count_;
  if (phase == Stream::Phase::kAwaitingOpen) {
    stream->heat().linger_deadline = now + config_.stream_linger;
    linger_.push_back(*stream);
  }
  return stream;
}

Stream* Streams::open(std::uint64_t id, ConstBytes metadata, std::uint32_t context, Instant now) {
  Stream* stream = create(id, Stream::Phase::kOpen, Own::kMemory, now);
  if (stream == nullptr) return nullptr;
  stream->context = context;
  stream->set_metadata(metadata);
  owe_open(*stream);
  return stream;
}

void Streams::on_opened(Stream& stream, ConstBytes metadata) {
  if (stream.phase == Stream::Phase::kAwaitingOpen) linger_.remove(stream);
  stream.phase = Stream::Phase::kOpen;
  stream.set_metadata(metadata);
  notify(stream, &Stream::Pending::opened);
  if (stream.receive.bytes().readable() > 0 || stream.receive.complete()) {
    notify(stream, &Stream::Pending::readable);
  }
  if (stream.confirmations.theirs() != Confirmation{}) {
    notify(stream, &Stream::Pending::confirmed);
  }
}

void Streams::unlink(Stream& stream) {
  receive_credit_.forget(stream);
  schedule_.remove(stream);
  due_.opens.remove(stream);
  due_.fins.remove(stream);
  due_.resets.remove(stream);
  due_.credits.remove(stream);
  confirms_of(stream).remove(stream);
  stream.confirm_behind_open = false;
  linger_.remove(stream);
  memory_waiters_.remove(stream);
  lane_waiters_.remove(stream);
  send_credit_.end_share(stream);
}

void Streams::erase(Stream& stream) {
  unlink(stream);
  events_.remove(stream);
  if (stream.phase != Stream::Phase::kResetting) {
    // Bytes that were received and never consumed are discarded, so their credit returns.
    receive_credit_.on_dropped(stream);
    --open_count_;
  }
  stream.drop_memory();
  stream.receive.reset();
  schedule_.leave(stream);
  stream.forget_hot();
  stream.phase = Stream::Phase::kFree;
  stream.generation = (stream.generation + 1) & Stream::kGenerationMask;
  table_.erase(stream);
}

void Streams::reset(Stream& stream, ResetReason reason, Instant now) {
  events_.remove(stream);
  if (stream.is_hot()) stream.heat().pending = {};
  begin_reset(stream, reason, now);
}

void Streams::begin_reset(Stream& stream, ResetReason reason, Instant now) {
  SATRELAY_DCHECK(stream.phase != Stream::Phase::kResetting);
  unlink(stream);
  stream.heat().reset_final_size = stream.send.sent();
  stream.reset_reason = reason;
  stream.final_size_known = stream.receive.final_known();
  receive_credit_.on_dropped(stream);
  stream.drop_memory();
  stream.phase = Stream::Phase::kResetting;
  --open_count_;
  stream.reset_due = true;
  due_.resets.push_back(stream);
  stream.heat().linger_deadline = now + config_.stream_linger;
  linger_.push_back(stream);
}

void Streams::fail(Stream& stream, ResetReason reason, Instant now) {
  const bool told = stream.visible() && !stream.hot().pending.opened && !stream.released;
  reset(stream, reason, now);
  if (told) {
    stream.heat().event_reason = reason;
    notify(stream, &Stream::Pending::reset);
  }
}

void Streams::release(Stream& stream, Duration reach, Instant now) {
  stream.released = true;
  stream.ready = false;
  if (stream.is_hot()) stream.heat().pending = {};
  events_.remove(stream);
  if (const std::uint64_t left = stream.receive.bytes().readable(); left > 0) {
    consume(stream, left, reach, now);
  }
  stream.heat().linger_deadline = now + config_.stream_linger;
  linger_.push_back(stream);
  update_active(stream);
  free_if_over(stream);
}

void Streams::cool(Stream& stream) {
  if (!NewList::contains(stream) && !LostList::contains(stream)) schedule_.leave(stream);
  stream.cool();
  stream.quiet = true;
}

void Streams::free_if_over(Stream& stream) {
  if (stream.phase == Stream::Phase::kResetting) {
    if (stream.reset_acknowledged && stream.final_size_known && !stream.hot().pending.any())
      erase(stream);
  } else if (stream.released && stream.send.done() && stream.receive.complete()) {
    erase(stream);
  }
}

std::size_t Streams::run_linger(const PathSince& path, Instant now) {
  std::size_t resets = 0;
  for (std::size_t i = 0; i < kStreamsPerTimeout; ++i) {
    if (linger_.empty() || now < linger_.front()->hot().linger_deadline) break;
    Stream& stream = *linger_.front();
    work_.add();
    linger_.remove(stream);
    // The end of the stream, or its OPEN, may just have been sent again.
    const Instant since = stream.phase == Stream::Phase::kAwaitingOpen ? path.heard : path.reached;
    if (since.is_never() || now < since + config_.stream_linger) {
      stream.heat().linger_deadline = now + config_.stream_linger;
      linger_.push_back(stream);
    } else if (stream.phase == Stream::Phase::kResetting) {
      erase(stream);
    } else {
      ++resets;
      begin_reset(stream, ResetReason::kTimeout, now);
    }
  }
  return resets;
}

// --- events --------------------------------------------------------------------------------------

void Streams::notify(Stream& stream, bool Stream::Pending::*event) {
  if (stream.released) return;
  stream.heat().pending.*event = true;
  events_.push_back(stream);
}

std::optional<Event> Streams::poll_event() {
  while (!events_.empty()) {
    Stream& stream = *events_.front();
    work_.add();
    Event event;
    event.stream = StreamId{stream.id};
    event.context = stream.context;
    Stream::Pending& pending = stream.heat().pending;
    const auto take = [](bool& flag) { return std::exchange(flag, false); };
    if (take(pending.opened)) {
      event.kind = Event::Kind::kOpened;
    } else if (take(pending.readable)) {
      event.kind = Event::Kind::kReadable;
    } else if (take(pending.writable)) {
      event.kind = Event::Kind::kWritable;
    } else if (take(pending.confirmed)) {
      event.kind = Event::Kind::kConfirmed;
    } else if (take(pending.delivered)) {
      event.kind = Event::Kind::kDelivered;
    } else if (take(pending.reset)) {
      event.kind = Event::Kind::kReset;
      event.reason = stream.hot().event_reason;
      event.icmp = stream.hot().icmp;
      events_.remove(stream);
      free_if_over(stream);
      return event;
    } else {
      events_.remove(stream);
      continue;
    }
    if (!pending.any()) events_.remove(stream);
    return event;
  }
  return std::nullopt;
}

// --- the reader ----------------------------------------------------------------------------------

void Streams::consume(Stream& stream, std::uint64_t count, Duration reach, Instant now) {
  if (receive_credit_.consume(stream, count, {reach, open_count_, now})) {
    owe_credit(stream);
  }
  if (receive_credit_.lane().capped()) look_for_memory(now);
}

void Streams::set_reader_needs(Stream& stream, std::uint64_t bytes, Instant now) {
  if (receive_credit_.set_reader_needs(stream, bytes, now)) owe_credit(stream);
}

// Very many idle streams may need a frame at once. They shall stay as small as they are.
void Streams::owe_credit(Stream& stream) {
  const bool is_idle = !stream.is_hot();
  due_.credits.push_back(stream);
  if (is_idle) stream.heat().is_brief = true;
}

std::uint64_t Streams::tell_credit(Stream& stream, Duration reach, Instant now) {
  due_.credits.remove(stream);
  const std::uint64_t limit = receive_credit_.tell(stream, {reach, open_count_, now});
  if (stream.hot().is_brief) {
    stream.heat().is_brief = false;
    stream.cool();
  }
  return limit;
}

void Streams::update_credit(Instant now) {
  if (receive_credit_.update_start(open_count_, now)) {
    first_credits_.begin(table_.slot_count());
    give_first_credits();
  }
  receive_credit_.look_at_memory();
}

void Streams::check_memory(Instant now) {
  memory_check_ = Instant::never();
  receive_credit_.look_at_memory();
  // Visits each waiter once, in order. Streams still without room go to the end of the list.
  Stream* const last = memory_waiters_.back();
  bool any_had_room = false;
  bool all = false;
  for (std::size_t i = 0; i < kStreamsPerTimeout && !all && !memory_waiters_.empty(); ++i) {
    Stream& stream = *memory_waiters_.front();
    work_.add();
    all = &stream == last;
    memory_waiters_.remove(stream);
    if (has_room(stream)) {
      any_had_room = true;
      stream.blocked = false;
      notify(stream, &Stream::Pending::writable);
      update_active(stream);
    } else {
      memory_waiters_.push_back(stream);
    }
  }
  if (memory_waiters_.empty() && !receive_credit_.lane().capped()) return;
  // If so many found no room, the others would find none either.
  memory_check_ = any_had_room && !all ? now : now + config_.memory_interval;
}

// --- very many streams ---------------------------------------------------------------------------

template <typename Visit>
void Streams::visit_open(IncrementalScan& lap, Visit&& visit) {
  // Streams in one step. Some streams take longer than others.
  constexpr std::size_t kStreamsPerStep = 256;
  lap.step(table_.slot_count(), kStreamsPerStep, [&](std::size_t i) {
    work_.add();
    Stream& stream = table_.at(static_cast<std::uint32_t>(i));
    if (stream.phase == Stream::Phase::kOpen) visit(stream);
  });
}

void Streams::go_on() {
  schedule_.go_on(work_);
  visit_open(activation_, [&](Stream& stream) { update_active(stream); });
  give_first_credits();
}

// Streams that still go by what HELLO promised need a STREAM_CREDIT now.
void Streams::give_first_credits() {
  visit_open(first_credits_, [&](Stream& stream) {
    const bool unknown = stream.receive.told() == 0 && stream.receive.consumed() > 0;
    if (unknown && !stream.receive.final_known()) owe_credit(stream);
  });
}

// --- the image of one stream

void Stream::image(Image& image) {
  image(id, host, confirmations, send, phase, ready, blocked, behind_rest, released, delivered,
        prompt, lane_share, stream_class, reset_reason, generation, receive, index, context, hot_);
  open_due = image.same(open_due);
  open_acknowledged = image.same(open_acknowledged);
  confirm_behind_open = image.same(confirm_behind_open);
  only_asks = image.same(only_asks);
  reset_due = image.same(reset_due);
  reset_acknowledged = image.same(reset_acknowledged);
  final_size_known = image.same(final_size_known);
  quiet = image.same(quiet);
  const std::size_t size = image.count(metadata_size);
  if (!image.same(metadata_bytes != nullptr)) return forget_metadata();
  if (image.reads()) make_metadata(size);
  image.octets({metadata_bytes.get(), size});
}

void read_into_place(Stream& stream, Arena& arena, Image& image) {
  const StreamPlaces places = stream.hot().places;
  std::destroy_at(&stream);
  // A pointer that the image has forgotten must not find the former stream.
  std::memset(static_cast<void*>(&stream), 0xa5, sizeof(stream));
  std::construct_at(&stream, arena);
  stream.image(image);
  if (stream.is_hot()) stream.heat().places = places;
}

}  // namespace satrelay::stp
