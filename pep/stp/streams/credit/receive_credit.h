// Grants credit to the peer: for the lane, for each stream, and for streams with a reader that is
// not known yet. It depends on what readers take, and on free memory.
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
  // A window depends on these: the time until credit granted now brings bytes, the number of open
  // streams, and the present time.
  struct Occasion {
    Duration reach;
    std::size_t open_streams = 0;
    Instant now;
  };

  // `promised`: the lane's credit that our HELLO grants. `arena` outlives this object.
  ReceiveCredit(const Limits& limits, Arena& arena, std::uint64_t promised);

  // The bytes that may be promised of an arena. A quarter of what is free stays for its other
  // users.
  static std::uint64_t free_memory(const Arena& arena) {
    return arena.free_blocks() * arena.block_size() / 4 * 3;
  }

  LaneReceiveCredit& lane() { return lane_; }
  const LaneReceiveCredit& lane() const { return lane_; }
  StartCredit& start() { return start_; }
  const StartCredit& start() const { return start_; }
  // Less was promised than the configuration says, as memory was short when the HELLO was made.
  bool is_short() const { return lane_.granted() < limits_.lane; }
  void look_at_memory() { lane_.update(free_memory(arena_)); }

  // More bytes are in order.
  void on_readable(Stream& stream, Instant now) { parked_.on_arrived(stream, now); }
  // The reader has taken `count` bytes. True if that is worth a STREAM_CREDIT.
  [[nodiscard]] bool consume(Stream& stream, std::uint64_t count, const Occasion& occasion);
  // The reader takes the next `bytes` at once or not at all. True if that is worth a STREAM_CREDIT.
  [[nodiscard]] bool set_reader_needs(Stream& stream, std::uint64_t bytes, Instant now);
  // The stream stores no bytes any more.
  void forget(Stream& stream) { parked_.forget(stream); }
  void on_dropped(const Stream& stream) {
    lane_.on_released(stream.receive.charged() - stream.receive.consumed());
  }
  // Returns the limit for a STREAM_CREDIT that leaves now, and grants it.
  std::uint64_t tell(Stream& stream, const Occasion& occasion);
  // Looks anew at how much may be sent of a stream with a reader that is not known yet. True if it
  // was lowered. Then streams that still go by what HELLO promised need a STREAM_CREDIT.
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
