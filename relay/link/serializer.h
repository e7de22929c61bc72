// A modem's queue and transmitter: frames leave one after another at the link's rate, and a frame
// that finds the queue full is dropped (tail drop).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::link {

// Keeps the instant at which all accepted frames will have left, to the fraction of a nanosecond,
// so that the rate is exact over any number of frames.
class Serializer {
 public:
  // `queue`: limit in accounted bytes; zero: rate x 100 ms, at least 64 KiB.
  Serializer(BitRate rate, ByteCount queue);

  // When the frame's last bit leaves; nullopt if the queue has no room. An idle transmitter takes a
  // frame of any size.
  std::optional<Instant> enqueue(std::uint32_t accounted_bytes, Instant now);

  // Frames accepted so far keep the rate of their time.
  void set_rate(BitRate rate);
  BitRate rate() const { return rate_; }
  ByteCount limit() const;  // of the queue, at the present rate
  // Bytes that have not left at `now`, as the present rate counts them.
  ByteCount backlog(Instant now) const { return rate_.bytes_in(busy_until_ - now); }
  Instant busy_until() const { return busy_until_; }
  // How long the transmitter is busy with them.
  Duration wait(Instant now) const { return std::max(busy_until_ - now, Duration::zero()); }

 private:
  BitRate rate_;
  ByteCount queue_;
  Duration queue_time_;  // the queue's limit as time at this rate
  Instant busy_until_;
  std::uint64_t remainder_ = 0;  // part of a nanosecond that busy_until_ lacks, in 1 / rate
};

}  // namespace satrelay::link
