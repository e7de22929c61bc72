// A modem's queue and transmitter. Frames leave one after another at the link's rate, and a frame
// that finds the queue full is dropped (tail drop).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::link {

// Stores the instant at which the last accepted frame will have been sent, to a fraction of a
// nanosecond. So rounding errors do not add up over many frames.
class Serializer {
 public:
  // `queue`: limit of the queue in accounted bytes. If it is zero, the limit is rate x 100 ms, but
  // at least 64 KiB.
  Serializer(BitRate rate, ByteCount queue);

  // Returns when the frame's last bit will be sent, or nullopt if the queue is full. An idle
  // transmitter takes a frame of any size.
  std::optional<Instant> enqueue(std::uint32_t accounted_bytes, Instant now);

  // Frames that were accepted before keep their old rate.
  void set_rate(BitRate rate);
  BitRate rate() const { return rate_; }
  // Limit of the queue, at the current rate.
  ByteCount limit() const;
  // The accepted bytes that are not sent by `now`, computed at the current rate.
  ByteCount backlog(Instant now) const { return rate_.bytes_in(busy_until_ - now); }
  Instant busy_until() const { return busy_until_; }
  // How long the transmitter is still busy, from `now` on.
  Duration wait(Instant now) const { return std::max(busy_until_ - now, Duration::zero()); }

 private:
  BitRate rate_;
  ByteCount queue_;
  Duration queue_time_;  // time to send a full queue at `rate_`
  Instant busy_until_;
  // The fraction of a nanosecond that was rounded off busy_until_, in units of 1 / rate.
  std::uint64_t remainder_ = 0;
};

}  // namespace satrelay::link
