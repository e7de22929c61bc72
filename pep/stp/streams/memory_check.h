// When the streams look for memory again. The arena has other users, which do not announce freed
// blocks.
#pragma once

#include "pep/base/time.h"

namespace satrelay::stp {

class MemoryCheck {
 public:
  // `interval`: between two looks.
  explicit MemoryCheck(Duration interval) : interval_(interval) {}

  Instant next() const { return next_; }
  // Memory is short.
  void plan(Instant now) {
    if (next_.is_never()) next_ = now + interval_;
  }
  // A look begins. It plans the next one if memory is still short: at once if some was free.
  void begin() { next_ = Instant::never(); }
  void plan_at_once(Instant now) { next_ = now; }

 private:
  Duration interval_;
  Instant next_ = Instant::never();
};

}  // namespace satrelay::stp
