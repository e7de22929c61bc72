// The streams as their writers and the scheduler see them.
#include <algorithm>

#include "pep/base/check.h"
#include "pep/stp/streams/streams.h"

namespace satrelay::stp {
namespace {

// The most streams waiting for the lane's credit that are woken at a time.
constexpr int kMostWoken = 16;
// A stream with at most so many bytes left is near its end. Unit: bytes.
constexpr std::uint64_t kTail = 64 * 1024;

}  // namespace

// --- the writer ----------------------------------------------------------------------------------

std::size_t Streams::write(Stream& stream, ConstBytes bytes, Instant now) {
  const std::size_t stored =
      stream.send.write(bytes, config_.stream_send_limit, kept_for_receiving());
  on_written(stream, now);
  return stored;
}

bool Streams::write_whole(Stream& stream, std::span<const ConstBytes> parts, Instant now) {
  std::uint64_t size = 0;
  for (const ConstBytes part : parts) size += part.size();
  if (room(stream) < size) {
    if (!stream.send.finished()) mark_blocked(stream, now);
    update_active(stream);
    return false;
  }
  for (const ConstBytes part : parts) {
    const std::size_t stored =
        stream.send.write(part, config_.stream_send_limit, kept_for_receiving());
    // room() is exact. If bytes were left out, the far side would misread all bytes behind them.
    SATRELAY_CHECK(stored == part.size());
  }
  on_written(stream, now);
  return true;
}

void Streams::wait_for_room(Stream& stream, std::uint64_t bytes, Instant now) {
  if (stream.send.finished()) return;
  stream.heat().room_needed =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, config_.stream_send_limit));
  if (!has_room(stream)) mark_blocked(stream, now);
  update_active(stream);
}

void Streams::on_written(Stream& stream, Instant now) {
  stream.quiet = false;
  if (stream.is_hot()) stream.heat().room_needed = 1;
  if (!has_room(stream) && !stream.send.finished()) mark_blocked(stream, now);
  update_active(stream);
}

void Streams::set_ready(Stream& stream, bool ready) {
  stream.ready = ready;
  if (ready && stream.blocked && has_room(stream)) stream.blocked = false;
  update_active(stream);
}

void Streams::finish(Stream& stream) {
  if (stream.send.finished()) return;
  stream.send.finish();
  stream.ready = false;
  stream.blocked = false;
  memory_waiters_.remove(stream);
  update_active(stream);
}

void Streams::confirm(Stream& stream, const Confirmation& confirmation, Instant now) {
  const Confirmation before = stream.confirmations.ours();
  if (!stream.confirmations.say(confirmation)) return;
  // A host waits for these states, so they do not wait for the clock. A host may mark all its data
  // as urgent, and each mark would wake the link. So only the first mark counts: it tells the far
  // host that there is one.
  const bool is_first_mark = before.urgent.mark == 0 && confirmation.urgent.mark > 0;
  if (confirmation.answered != before.answered || confirmation.ended != before.ended ||
      is_first_mark) {
    next_confirm_ = now;
  }
  Confirmation without_questions = before;
  without_questions.keep_alives = confirmation.keep_alives;
  without_questions.word = confirmation.word;
  owe_confirmation(stream, without_questions == confirmation ? News::kQuestion : News::kState);
}

// A peer does not record a packet that names a stream before its OPEN. So CONFIRM waits for the
// OPEN.
void Streams::owe_confirmation(Stream& stream, News news) {
  const bool is_queued = ConfirmList::contains(stream);
  const bool is_owed = stream.confirm_behind_open || is_queued;
  const bool only_asks = news == News::kQuestion && (!is_owed || stream.only_asks);
  if (is_queued && only_asks == stream.only_asks) return;
  confirms_of(stream).remove(stream);
  stream.only_asks = only_asks;
  if (stream.open_due) {
    stream.confirm_behind_open = true;
  } else {
    confirms_of(stream).push_back(stream);
  }
}

void Streams::owe_open(Stream& stream) {
  stream.open_due = true;
  due_.opens.push_back(stream);
  if (!ConfirmList::contains(stream)) return;
  confirms_of(stream).remove(stream);
  stream.confirm_behind_open = true;
}

void Streams::on_open_left(Stream& stream) {
  stream.open_due = false;
  due_.opens.remove(stream);
  if (!stream.confirm_behind_open) return;
  stream.confirm_behind_open = false;
  confirms_of(stream).push_back(stream);
}

void Streams::mark_blocked(Stream& stream, Instant now) {
  stream.blocked = true;
  // Acknowledgments of its own bytes wake a stream, unless it lacks blocks of the arena.
  const std::uint64_t stored = stream.send.stored();
  if (stored >= config_.stream_send_limit || room(stream) >= config_.stream_send_limit - stored) {
    return;
  }
  memory_waiters_.push_back(stream);
  look_for_memory(now);
}

// --- the scheduler -------------------------------------------------------------------------------

const Stream* Streams::first(schedule::ClassSet classes, schedule::ClassId first) const {
  const schedule::ClassSet waiting = has_bytes(classes);
  if (waiting == 0) return nullptr;
  const bool has_turn = (waiting & schedule::class_bit(first)) != 0;
  return schedule_.next(has_turn ? first : schedule::lowest_class(waiting), send_credit_.any());
}

bool Streams::near_end(const Stream* next) const {
  if (next != nullptr && (next->blocked || next->ready || next->left() > kTail)) return false;
  if (schedule_.has_new() == 0) return true;
  const Stream* only = schedule_.only_new();
  return only != nullptr && !only->ready && only->send.unsent() <= kTail;
}

void Streams::update_active(Stream& stream) {
  const bool has_bytes = stream.send.unsent() > 0;
  const bool is_open = stream.phase == Stream::Phase::kOpen;
  send_credit_.keep_share(stream, is_open && (has_bytes || !stream.send.finished()));
  const bool wants = is_open && send_credit_.own(stream) > 0 &&
                     (has_bytes || (stream.ready && !stream.blocked && !stream.send.finished()));
  // If no stream has credit of the lane left, the stream stays in the schedule.
  const bool waits = wants && send_credit_.any() && send_credit_.of_lane(stream) == 0;
  schedule_.set_new(stream, wants && !waits);
  waits ? lane_waiters_.push_back(stream) : lane_waiters_.remove(stream);
  if (stream.phase == Stream::Phase::kOpen && stream.send.fin_due()) {
    due_.fins.push_back(stream);
  }
}

void Streams::on_acknowledged(Stream& stream, Instant now) {
  schedule_.update_lost(stream);
  if (stream.send.done() && !stream.delivered) {
    stream.delivered = true;
    notify(stream, &Stream::Pending::delivered);
    free_if_over(stream);
    return;
  }
  // Bytes were in flight when the stream fell quiet, and sending them again has heated it since.
  if (stream.quiet && stream.send.stored() == 0) cool(stream);
  if (!stream.blocked) return;
  if (!has_room(stream)) {
    // Possibly nothing is in flight that could wake the stream, and now the arena is full.
    mark_blocked(stream, now);
    return;
  }
  stream.blocked = false;
  memory_waiters_.remove(stream);
  notify(stream, &Stream::Pending::writable);
  update_active(stream);
}

// --- credit of the peer --------------------------------------------------------------------------

void Streams::raise_lane_credit(std::uint64_t limit) {
  send_credit_.raise_lane(limit);
  wake_lane_waiters();
}

void Streams::raise_credit(Stream& stream, std::uint64_t limit) {
  SendCredit::raise(stream, limit);
  update_active(stream);
}

void Streams::wake_some_lane_waiters() {
  for (int i = 0; i < kMostWoken && !lane_waiters_.empty(); ++i) {
    if (!send_credit_.is_beyond_shares()) return;
    Stream& stream = *lane_waiters_.front();
    work_.add();
    lane_waiters_.remove(stream);
    update_active(stream);
  }
}

}  // namespace satrelay::stp
