// Limits how many ACKs per second an endpoint sends in answer to segments that may be forged or
// part of an ACK loop (RFC 5961 section 7).
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"
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

  void image(Image& image) { image(second_, sent_); }

 private:
  static constexpr std::uint8_t kMostPerSecond = 10;
  std::uint16_t second_ = 0;  // the low 16 bits of the clock in units of 2^30 ns (about 1 s)
  std::uint8_t sent_ = 0;     // ACKs allowed so far in this unit of time
};

}  // namespace satrelay::tcp
