// Grants credit to the peer: for the lane, for each stream, and for streams before their first
// STREAM_CREDIT. The credit depends on how fast readers consume, and on free memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/arena.h"
#include "pep/base/time.h"
#include "pep/stp/streams/credit/lane_credit.h"
#include "pep/stp/streams/credit/parked_bytes.h"
#include "pep/stp/streams/credit/start_credit.h"
#include "pep/stp/streams/stream.h"

namespace satrelay::stp {

class ReceiveCredit {
 public:
  struct Limits {
    std::uint64_t lane = 0;
    std::uint64_t stream = 0;
  };
  // Values on which a window depends. `reach` is the time from new credit until bytes arrive that
  // use it.
  struct Occasion {
    Duration reach;
    std::size_t open_streams = 0;
    Instant now;
  };

  // `promised` is the credit that our HELLO grants for the whole lane. `arena` must outlive this
  // object.
  ReceiveCredit(const Limits& limits, Arena& arena, std::uint64_t promised);

  // Number of bytes of an arena for which the peer may get credit. A quarter of the free blocks is
  // left to other users.
  static std::uint64_t free_memory(const Arena& arena) {
    return arena.free_blocks() * arena.block_size() / 4 * 3;
  }

  LaneReceiveCredit& lane() { return lane_; }
  const LaneReceiveCredit& lane() const { return lane_; }
  StartCredit& start() { return start_; }
  const StartCredit& start() const { return start_; }
  // Whether the granted credit is less than configured, because memory was short when our HELLO was
  // made.
  bool is_short() const { return lane_.granted() < limits_.lane; }
  void look_at_memory() { lane_.update(free_memory(arena_)); }

  // More bytes of the stream are in order.
  void on_readable(Stream& stream, Instant now) { parked_.on_arrived(stream, now); }
  // The reader has consumed `count` bytes. Returns whether a STREAM_CREDIT is worthwhile.
  [[nodiscard]] bool consume(Stream& stream, std::uint64_t count, const Occasion& occasion);
  // The reader can consume nothing until the next `bytes` bytes are in order. Returns whether a
  // STREAM_CREDIT is worthwhile.
  [[nodiscard]] bool set_reader_needs(Stream& stream, std::uint64_t bytes, Instant now);
  // The stream no longer stores any bytes.
  void forget(Stream& stream) { parked_.forget(stream); }
  void on_dropped(const Stream& stream) {
    lane_.on_released(stream.receive.charged() - stream.receive.consumed());
  }
  // Returns the limit for a STREAM_CREDIT that is sent now, and grants it.
  std::uint64_t tell(Stream& stream, const Occasion& occasion);
  // Calculates again how much a stream may send before its first STREAM_CREDIT. Returns true if the
  // limit was lowered. Streams that still use the limit of HELLO then need a STREAM_CREDIT.
  [[nodiscard]] bool update_start(std::size_t open_streams, Instant now);
  std::uint64_t parked() const { return parked_.noted(); }

 private:
  std::uint64_t window(Stream& stream, const Occasion& occasion);
  std::uint64_t least(std::size_t open_streams) const;

  Limits limits_;
  const Arena& arena_;
  LaneReceiveCredit lane_;
  StartCredit start_;
  ParkedBytes parked_;
};

}  // namespace satrelay::stp
