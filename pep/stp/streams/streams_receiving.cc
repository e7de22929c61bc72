// The credit that the streams of a peer get, from what their readers take and the arena has.
#include <algorithm>

#include "pep/stp/streams/streams.h"

namespace satrelay::stp {
namespace {

// A reader that pauses for less is not taken for one that does not read.
constexpr Duration kPause = Duration::milliseconds(200);

}  // namespace

void Streams::consume(Stream& stream, std::uint64_t count, Duration reach, Instant now) {
  stream.receive.consume(count, now);
  stream.receive.taken().add(count, kPause, now);
  stream.reader_needs = 0;
  parked_.on_taken(stream, now);
  lane_receive_.on_released(count);
  lane_receive_.update(free_memory(arena_));
  if (lane_receive_.capped()) look_for_memory(now);
  if (stream.receive.final_known()) return;
  const std::uint64_t wanted = window(stream, reach, now);
  const std::uint64_t step = wanted / (start_credit_.lowered() ? 4 : 16);
  const bool more =
      stream.receive.consumed() + wanted >=
      std::max(stream.receive.told(), start_credit_.current()) + std::max<std::uint64_t>(1, step);
  // Where bytes that nobody reads hold the lane's credit, the peer goes on with its share of the
  // lane for as long as it hears that this reader reads.
  const bool reads = start_credit_.lowered() &&
                     lane_receive_.promised() < config_.lane_receive_limit / 2 &&
                     stream.receive.consumed_since_told() >= LaneShares::kShare / 2;
  if (more || reads) due_.credits.push_back(stream);
}

// What the peer may have stored here of one stream, or on its way.
std::uint64_t Streams::window(Stream& stream, Duration reach, Instant now) {
  const std::uint64_t window = stream.receive.window(config_.stream_receive_limit, reach, now);
  if (!start_credit_.lowered()) return window;
  // Other readers do not read. This one gets what it needs to go on and to become faster, and no
  // more than half of what is left, as it may be the next to pause.
  const auto pace =
      static_cast<std::uint64_t>(static_cast<double>(stream.receive.taken().amount(kPause, now)) *
                                 (reach.to_seconds() / kPause.to_seconds()) * 2);
  // The eighth that is everybody's least is not what is left.
  const std::uint64_t most = config_.lane_receive_limit / 8 * 7;
  const std::uint64_t left = most - std::min(most, parked_.total(kPause, now));
  return std::min(window,
                  std::max({least_credit(), std::min(pace, left / 2), stream.reader_needs}));
}

// What every stream may have stored here, however many they are: an eighth of the lane for all.
std::uint64_t Streams::least_credit() const {
  return std::max(LaneShares::kShare,
                  config_.lane_receive_limit / 8 / std::max<std::uint64_t>(1, open_count_));
}

void Streams::set_reader_needs(Stream& stream, std::uint64_t bytes, Instant now) {
  stream.reader_needs = bytes;
  parked_.on_taken(stream, now);
  if (!stream.receive.final_known() &&
      stream.receive.consumed() + bytes >
          std::max(stream.receive.told(), start_credit_.current())) {
    due_.credits.push_back(stream);
  }
}

std::uint64_t Streams::tell_credit(Stream& stream, Duration reach, Instant now) {
  return stream.receive.tell(stream.receive.consumed() + window(stream, reach, now));
}

void Streams::update_credit(Instant now) {
  update_start_credit(now);
  lane_receive_.update(free_memory(arena_));
}

// A quarter of the lane may lie before readers that do not read; the nearer it comes to that, the
// less may be sent of a stream whose reader is not known yet.
void Streams::update_start_credit(Instant now) {
  const std::uint64_t lane = config_.lane_receive_limit;
  const std::uint64_t waits = parked_.total(kPause, now);
  std::uint64_t wanted = config_.stream_receive_limit;
  if (waits > 0) {
    const double left = 1.0 - 4.0 * static_cast<double>(waits) / static_cast<double>(lane);
    wanted = std::max(least_credit(), static_cast<std::uint64_t>(static_cast<double>(wanted) *
                                                                 std::max(0.0, left)));
    wanted = std::min(wanted, config_.stream_receive_limit);
  }
  const std::uint64_t before = start_credit_.current();
  if (!start_credit_.change(wanted) || start_credit_.current() > before) return;
  first_credits_.begin(table_.slot_count());
  give_first_credits();
}

void Streams::check_memory(Instant now) {
  memory_check_ = Instant::never();
  lane_receive_.update(free_memory(arena_));
  // Each waiter once, in order; those still without room go to the end.
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
  if (memory_waiters_.empty() && !lane_receive_.capped()) return;
  // Where so many find nothing, the others would not either.
  memory_check_ = any_had_room && !all ? now : now + config_.memory_interval;
}

}  // namespace satrelay::stp
