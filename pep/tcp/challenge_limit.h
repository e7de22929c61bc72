// At most a few answers a second to segments that may be forged or part of an ACK loop (RFC 5961
// section 7).
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::tcp {

class ChallengeLimit {
 public:
  bool allow(Instant now) {
    if (now >= window_end_) {
      window_end_ = now + Duration::seconds(1);
      sent_ = 0;
    }
    return sent_ < kMostPerSecond && ++sent_ > 0;
  }

 private:
  static constexpr std::uint8_t kMostPerSecond = 10;
  Instant window_end_;
  std::uint8_t sent_ = 0;
};

}  // namespace satrelay::tcp
