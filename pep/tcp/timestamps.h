// RFC 7323: our clock in milliseconds, TS.Recent and PAWS.
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

  // PAWS, section 5.3 R1: `value` is older than TS.Recent.
  bool is_old(std::uint32_t value) const { return static_cast<std::int32_t>(value - recent_) < 0; }
  // Section 4.3: only a segment that begins at or before the last ACK sent may move TS.Recent, so
  // that a delayed ACK echoes the oldest segment it covers.
  void update(std::uint32_t value, std::int64_t position, std::uint64_t last_ack_sent) {
    if (position <= static_cast<std::int64_t>(last_ack_sent) && !is_old(value)) recent_ = value;
  }
  // Time since the echoed value was sent; zero if the echo cannot be one of our values.
  Duration age(std::uint32_t echo, Instant now) const {
    const std::uint32_t elapsed = value(now) - echo;
    if (echo == 0 || elapsed > kOldestEcho) return Duration::zero();
    // The clock ticks in milliseconds, so the least sample is one tick. Zero would mean "none".
    return Duration::milliseconds(elapsed > 0 ? elapsed : 1);
  }

  // The echoed value was sent before this instant; never() if the echo cannot be one of our values.
  Instant echoed_before(std::uint32_t echo, Instant now) const {
    const std::uint32_t elapsed = value(now) - echo;
    if (echo == 0 || elapsed > kOldestEcho) return Instant::never();
    const std::int64_t ticks = now.to_nanoseconds() / 1'000'000 - elapsed + 1;
    return Instant::from_nanoseconds(ticks * 1'000'000);
  }

  // The clock goes on as its peer knows it, though the epoch of Instant may be another.
  void image(Image& image) {
    std::uint32_t clock = value(image.now());
    image(clock, recent_);
    if (image.reads()) offset_ += clock - value(image.now());
  }

 private:
  static constexpr std::uint32_t kOldestEcho = 600'000;  // ms; an older echo is none of ours
  std::uint32_t offset_;
  std::uint32_t recent_ = 0;
};

}  // namespace satrelay::tcp
