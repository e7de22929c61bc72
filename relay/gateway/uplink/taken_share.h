// This worker's latest share of a carrier, if several workers share the carrier.
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::gateway {

struct TakenShare {
  bool is_taken = false;  // whether this worker has ever had a share of the carrier
  // True if the share is at least twice the previous share. A session that waits for the pacer may
  // then send earlier than planned.
  bool has_risen = false;
  // When the share expires; never() if there is none, or if it has expired.
  Instant until = Instant::never();
  // This worker's part of the link after the share has expired, in units of 1 / kWholeLink.
  std::uint32_t fallback = 0;
  std::uint64_t serial = 0;

  bool has_expired() const { return is_taken && until.is_never(); }
};

}  // namespace satrelay::gateway
