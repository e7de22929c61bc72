// The share of a carrier that this worker took over last, if several workers share the carrier.
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::gateway {

struct TakenShare {
  bool is_taken = false;  // whether there was a share yet, so that the carrier is shared
  // True if the share is at least twice the previous share, so that a session that waits for the
  // pacer may send earlier than it has planned.
  bool has_risen = false;
  // When the share expires; never() if there is none, or if it has expired.
  Instant until = Instant::never();
  // This worker's part of the link after the share has expired, as a fraction of kWholeLink.
  std::uint32_t fallback = 0;
  std::uint64_t serial = 0;

  bool has_expired() const { return is_taken && until.is_never(); }
};

}  // namespace satrelay::gateway
