#include "pep/stp/streams/sending_side.h"

#include "pep/base/check.h"

namespace satrelay::stp {
namespace {

// If streams wait for the lane's credit, one call wakes at most this number of them.
constexpr int kMostWoken = 16;
// A stream is near its end if it has at most this number of bytes left.
constexpr std::uint64_t kTail = 64 * 1024;

}  // namespace

// --- the life of a stream ------------------------------------------------------------------------

void SendingSide::begin(Stream& stream) {
  schedule_.join(stream, 0, 0);
  credit_.begin_share(stream);
}

void SendingSide::cool(Stream& stream) {
  if (!NewList::contains(stream) && !LostList::contains(stream)) schedule_.leave(stream);
  stream.cool();
  stream.quiet = true;
}

void SendingSide::forget(Stream& stream) {
  schedule_.remove(stream);
  memory_waiters_.remove(stream);
  lane_waiters_.remove(stream);
  credit_.end_share(stream);
}

// --- the writer ----------------------------------------------------------------------------------

std::size_t SendingSide::write(Stream& stream, ConstBytes bytes, Instant now) {
  const std::size_t stored = stream.send.write(bytes, stream_limit_, kept_for_receiving());
  on_written(stream, now);
  return stored;
}

bool SendingSide::write_whole(Stream& stream, std::span<const ConstBytes> parts, Instant now) {
  std::uint64_t size = 0;
  for (const ConstBytes part : parts) size += part.size();
  if (room(stream) < size) {
    if (!stream.send.finished()) mark_blocked(stream, now);
    update_active(stream);
    return false;
  }
  for (const ConstBytes part : parts) {
    const std::size_t stored = stream.send.write(part, stream_limit_, kept_for_receiving());
    // write() stores as much as room() has returned. If bytes were left out, the far side would
    // misread all later bytes.
    SATRELAY_CHECK(stored == part.size());
  }
  on_written(stream, now);
  return true;
}

void SendingSide::wait_for_room(Stream& stream, std::uint64_t bytes, Instant now) {
  if (stream.send.finished()) return;
  stream.heat().room_needed =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, stream_limit_));
  if (!has_room(stream)) mark_blocked(stream, now);
  update_active(stream);
}

void SendingSide::on_written(Stream& stream, Instant now) {
  stream.quiet = false;
  if (stream.is_hot()) stream.heat().room_needed = 1;
  if (!has_room(stream) && !stream.send.finished()) mark_blocked(stream, now);
  update_active(stream);
}

void SendingSide::set_ready(Stream& stream, bool ready) {
  stream.ready = ready;
  if (ready && stream.blocked && has_room(stream)) stream.blocked = false;
  update_active(stream);
}

void SendingSide::finish(Stream& stream) {
  if (stream.send.finished()) return;
  stream.send.finish();
  stream.ready = false;
  stream.blocked = false;
  memory_waiters_.remove(stream);
  update_active(stream);
}

void SendingSide::mark_blocked(Stream& stream, Instant now) {
  stream.blocked = true;
  // If the stream has reached its own limit, the writer is woken when bytes of the stream are
  // acknowledged. Otherwise the arena has too few free blocks, and wake_memory_waiters() must wake
  // the writer.
  const std::uint64_t stored = stream.send.stored();
  if (stored >= stream_limit_ || room(stream) >= stream_limit_ - stored) {
    return;
  }
  memory_waiters_.push_back(stream);
  parts_.memory_check.plan(now);
}

bool SendingSide::wake_memory_waiters() {
  // Maximum number of writers that are checked in one call.
  constexpr std::size_t kMostLookedAt = 64;
  // Checks each waiting stream at most once, in order. Streams still without enough free space go
  // to the end of the list.
  Stream* const last = memory_waiters_.back();
  bool any_had_room = false;
  bool all = false;
  for (std::size_t i = 0; i < kMostLookedAt && !all && waits_for_memory(); ++i) {
    Stream& stream = *memory_waiters_.front();
    parts_.work.add();
    all = &stream == last;
    memory_waiters_.remove(stream);
    if (has_room(stream)) {
      any_had_room = true;
      unblock(stream);
    } else {
      memory_waiters_.push_back(stream);
    }
  }
  // If none of the checked writers had enough space, the others are not likely to have enough.
  return any_had_room && !all;
}

void SendingSide::unblock(Stream& stream) {
  stream.blocked = false;
  memory_waiters_.remove(stream);
  parts_.events.notify(stream, &Stream::Pending::writable);
  update_active(stream);
}

// --- the scheduler -------------------------------------------------------------------------------

const Stream* SendingSide::first(schedule::ClassSet classes, schedule::ClassId first) const {
  const schedule::ClassSet waiting = has_bytes(classes);
  if (waiting == 0) return nullptr;
  const bool has_turn = (waiting & schedule::class_bit(first)) != 0;
  return schedule_.next(has_turn ? first : schedule::lowest_class(waiting), credit_.any());
}

bool SendingSide::near_end(const Stream* next) const {
  if (next != nullptr && (next->blocked || next->ready || next->left() > kTail)) return false;
  if (schedule_.has_new() == 0) return true;
  const Stream* only = schedule_.only_new();
  return only != nullptr && !only->ready && only->send.unsent() <= kTail;
}

void SendingSide::update_active(Stream& stream) {
  const bool has_bytes = stream.send.unsent() > 0;
  const bool is_open = stream.phase == Stream::Phase::kOpen;
  credit_.keep_share(stream, is_open && (has_bytes || !stream.send.finished()));
  const bool wants = is_open && credit_.own(stream) > 0 &&
                     (has_bytes || (stream.ready && !stream.blocked && !stream.send.finished()));
  // The stream waits if the lane has credit, but not for this stream. If the lane has no credit at
  // all, the stream stays in the schedule.
  const bool waits = wants && credit_.any() && credit_.of_lane(stream) == 0;
  schedule_.set_new(stream, wants && !waits);
  waits ? lane_waiters_.push_back(stream) : lane_waiters_.remove(stream);
  if (stream.phase == Stream::Phase::kOpen && stream.send.fin_due()) {
    parts_.due.fins().push_back(stream);
  }
}

bool SendingSide::on_acknowledged(Stream& stream, Instant now) {
  schedule_.update_lost(stream);
  if (stream.send.done() && !stream.delivered) {
    stream.delivered = true;
    parts_.events.notify(stream, &Stream::Pending::delivered);
    return true;
  }
  // The earlier call of cool() could not free everything, because bytes were not acknowledged yet.
  if (stream.quiet && stream.send.stored() == 0) cool(stream);
  if (!stream.blocked) return false;
  if (has_room(stream)) {
    unblock(stream);
  } else {
    // The arena is full. Perhaps no further acknowledgment will come that could wake the stream, so
    // put it in the list of streams that wait for memory.
    mark_blocked(stream, now);
  }
  return false;
}

// --- credit of the peer --------------------------------------------------------------------------

void SendingSide::raise_lane_credit(std::uint64_t limit) {
  credit_.raise_lane(limit);
  wake_lane_waiters();
}

void SendingSide::raise_credit(Stream& stream, std::uint64_t limit) {
  SendCredit::raise(stream, limit);
  update_active(stream);
}

void SendingSide::wake_some_lane_waiters() {
  for (int i = 0; i < kMostWoken && !lane_waiters_.empty(); ++i) {
    if (!credit_.is_beyond_shares()) return;
    Stream& stream = *lane_waiters_.front();
    parts_.work.add();
    lane_waiters_.remove(stream);
    update_active(stream);
  }
}

void SendingSide::go_on() {
  schedule_.go_on(parts_.work);
  parts_.set.visit_open(activation_, [&](Stream& stream) { update_active(stream); });
}

}  // namespace satrelay::stp
