// The pace at which flows end because others need their room. Connections may come faster than
// that. Each connection that finds no room is bridged.
#pragma once

#include "pep/base/time.h"

namespace satrelay::gateway {

class RoomPace {
 public:
  // True, and the next one is due a millisecond later.
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
