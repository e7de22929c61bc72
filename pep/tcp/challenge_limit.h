// At most a few answers a second to segments that may be forged or part of an ACK loop (RFC 5961
// section 7).
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::tcp {

class ChallengeLimit {
 public:
  bool allow(Instant now) {
    const auto second = static_cast<std::uint16_t>((now - Instant()).to_nanoseconds() >> 30);
    if (second != second_) {
      second_ = second;
      sent_ = 0;
    }
    return sent_ < kMostPerSecond && ++sent_ > 0;
  }

 private:
  static constexpr std::uint8_t kMostPerSecond = 10;
  std::uint16_t second_ = 0;  // of the clock, nearly, and without its higher bits
  std::uint8_t sent_ = 0;     // in it
};

}  // namespace satrelay::tcp
