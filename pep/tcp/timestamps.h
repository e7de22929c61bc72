// The timestamps of RFC 7323: our clock in milliseconds, TS.Recent and PAWS.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

class Timestamps {
 public:
  explicit Timestamps(std::uint32_t offset) : offset_(offset) {}

  std::uint32_t value(Instant now) const {
    return offset_ + static_cast<std::uint32_t>(now.to_nanoseconds() / 1'000'000);
  }
  std::uint32_t recent() const { return recent_; }
  void set_recent(std::uint32_t value) { recent_ = value; }

  // PAWS, section 5.3 R1: whether `value` is older than TS.Recent.
  bool is_old(std::uint32_t value) const { return static_cast<std::int32_t>(value - recent_) < 0; }
  // Section 4.3: only a segment that begins at or before the last ACK sent may change TS.Recent. So
  // a delayed ACK echoes the oldest segment that it covers.
  void update(std::uint32_t value, std::int64_t position, std::uint64_t last_ack_sent) {
    if (position <= static_cast<std::int64_t>(last_ack_sent) && !is_old(value)) recent_ = value;
  }
  // Time since we sent the echoed value. Zero if the echo cannot be one of our values.
  Duration age(std::uint32_t echo, Instant now) const {
    const std::uint32_t elapsed = value(now) - echo;
    if (echo == 0 || elapsed > kOldestEcho) return Duration::zero();
    // The clock ticks in milliseconds, so the smallest sample is one tick. Zero would mean "no
    // sample".
    return Duration::milliseconds(elapsed > 0 ? elapsed : 1);
  }

  // We sent the echoed value before this instant. never() if the echo cannot be one of our values.
  Instant echoed_before(std::uint32_t echo, Instant now) const {
    const std::uint32_t elapsed = value(now) - echo;
    if (echo == 0 || elapsed > kOldestEcho) return Instant::never();
    const std::int64_t ticks = now.to_nanoseconds() / 1'000'000 - elapsed + 1;
    return Instant::from_nanoseconds(ticks * 1'000'000);
  }

  // When an image is read, our timestamps continue without a jump, even if Instant has another
  // epoch in the reading process.
  void image(Image& image) {
    std::uint32_t clock = value(image.now());
    image(clock, recent_);
    if (image.reads()) offset_ += clock - value(image.now());
  }

 private:
  // If an echoed timestamp is more milliseconds old than this, it cannot be one of our values.
  static constexpr std::uint32_t kOldestEcho = 600'000;
  std::uint32_t offset_;
  std::uint32_t recent_ = 0;
};

}  // namespace satrelay::tcp
