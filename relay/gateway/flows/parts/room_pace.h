// Limits how often flows are ended because other flows need room. If connections arrive faster, a
// connection for which there is no room is bridged.
#pragma once

#include "pep/base/time.h"

namespace satrelay::gateway {

class RoomPace {
 public:
  // Returns true if a flow may be ended at `now`. The next flow may be ended a millisecond later.
  bool take(Instant now) {
    if (now < next_) return false;
    next_ = now + Duration::milliseconds(1);
    return true;
  }
  Instant next() const { return next_; }

 private:
  Instant next_;
};

}  // namespace satrelay::gateway
