#include "pep/stp/streams/credit/receive_credit.h"

#include <algorithm>

#include "pep/stp/streams/credit/lane_share.h"

namespace satrelay::stp {
namespace {

// A reader that pauses for less than this time still counts as reading.
constexpr Duration kPause = Duration::milliseconds(200);

}  // namespace

ReceiveCredit::ReceiveCredit(const Limits& limits, Arena& arena, std::uint64_t promised)
    : limits_(limits),
      arena_(arena),
      lane_(limits.lane, promised,
            std::min<std::uint64_t>(limits.lane, arena.total_blocks() * arena.block_size()) / 32,
            arena),
      start_(limits.stream) {}

bool ReceiveCredit::consume(Stream& stream, std::uint64_t count, const Occasion& occasion) {
  stream.receive.consume(count, occasion.now);
  stream.receive.taken().add(count, kPause, occasion.now);
  if (stream.is_hot()) stream.heat().reader_needs = 0;
  parked_.on_taken(stream, occasion.now);
  lane_.on_released(count);
  look_at_memory();
  if (stream.receive.final_known()) return false;
  const std::uint64_t wanted = window(stream, occasion);
  const std::uint64_t step = wanted / (start_.lowered() ? 4 : 16);
  const bool more =
      stream.receive.consumed() + wanted >=
      std::max(stream.receive.told(), start_.current()) + std::max<std::uint64_t>(1, step);
  // If unread bytes of other streams occupy the lane's credit, this stream can only use its share
  // of the lane (lane_share.h). A STREAM_CREDIT renews the share, so it is sent even if its limit
  // is not much higher.
  const bool reads = start_.lowered() && lane_.promised() < limits_.lane / 2 &&
                     stream.receive.consumed_since_told() >= LaneShares::kShare / 2;
  return more || reads;
}

// Returns the maximum number of bytes of the stream that may be stored here or in flight.
std::uint64_t ReceiveCredit::window(Stream& stream, const Occasion& occasion) {
  const std::uint64_t window = stream.receive.window(limits_.stream, occasion.reach, occasion.now);
  if (!start_.lowered()) return window;
  // Some readers have stopped reading. This reader gets credit for twice its current rate, so that
  // it can become faster. But it gets no more than half of the credit that is left, as it may also
  // stop.
  const auto pace = static_cast<std::uint64_t>(
      static_cast<double>(stream.receive.taken().amount(kPause, occasion.now)) *
      (occasion.reach.to_seconds() / kPause.to_seconds()) * 2);
  // One eighth of the lane is not given away here: it is needed for the bytes that least()
  // guarantees to each stream.
  const std::uint64_t most = limits_.lane / 8 * 7;
  const std::uint64_t left = most - std::min(most, parked_.total(kPause, occasion.now));
  return std::min(window, std::max({least(occasion.open_streams), std::min(pace, left / 2),
                                    stream.hot().reader_needs}));
}

// Returns the number of bytes that each stream may always have stored here: an eighth of the lane,
// divided by the number of streams.
std::uint64_t ReceiveCredit::least(std::size_t open_streams) const {
  return std::max(LaneShares::kShare, limits_.lane / 8 / std::max<std::uint64_t>(1, open_streams));
}

bool ReceiveCredit::set_reader_needs(Stream& stream, std::uint64_t bytes, Instant now) {
  if (stream.hot().reader_needs != bytes) stream.heat().reader_needs = bytes;
  parked_.on_taken(stream, now);
  return !stream.receive.final_known() &&
         stream.receive.consumed() + bytes > std::max(stream.receive.told(), start_.current());
}

std::uint64_t ReceiveCredit::tell(Stream& stream, const Occasion& occasion) {
  return stream.receive.tell(stream.receive.consumed() + window(stream, occasion));
}

// Up to a quarter of the lane may be unread. The closer the unread bytes come to this limit, the
// fewer bytes a stream may send before its first STREAM_CREDIT.
bool ReceiveCredit::update_start(std::size_t open_streams, Instant now) {
  const std::uint64_t waits = parked_.total(kPause, now);
  std::uint64_t wanted = limits_.stream;
  if (waits > 0) {
    const double left = 1.0 - 4.0 * static_cast<double>(waits) / static_cast<double>(limits_.lane);
    wanted = std::max(least(open_streams), static_cast<std::uint64_t>(static_cast<double>(wanted) *
                                                                      std::max(0.0, left)));
    wanted = std::min(wanted, limits_.stream);
  }
  const std::uint64_t before = start_.current();
  return start_.change(wanted) && start_.current() <= before;
}

}  // namespace satrelay::stp
