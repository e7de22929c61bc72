// The share of a carrier that this worker, one of several, has last taken over.
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::gateway {

struct TakenShare {
  bool is_taken = false;  // a share was taken over before: the carrier is shared
  // True if the share is at least twice the previous one: a session that waits for the pacer may
  // send earlier.
  bool has_risen = false;
  // When the share expires; never() if there is none, or if it has expired.
  Instant until = Instant::never();
  std::uint32_t fallback = 0;  // as a fraction of kWholeLink
  std::uint64_t serial = 0;

  bool has_expired() const { return is_taken && until.is_never(); }
};

}  // namespace satrelay::gateway
