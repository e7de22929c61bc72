// Decides when the streams check again for free memory. The checks are needed because other users
// of the arena do not announce the blocks that they free.
#pragma once

#include "pep/base/time.h"

namespace satrelay::stp {

class MemoryCheck {
 public:
  // `interval` is the time between two checks.
  explicit MemoryCheck(Duration interval) : interval_(interval) {}

  Instant next() const { return next_; }
  // Plans a check, as memory is short.
  void plan(Instant now) {
    if (next_.is_never()) next_ = now + interval_;
  }
  // A check begins. If memory is still short after the check, the caller plans the next one: with
  // plan_at_once() if this check has found free memory, otherwise with plan().
  void begin() { next_ = Instant::never(); }
  void plan_at_once(Instant now) { next_ = now; }

 private:
  Duration interval_;
  Instant next_ = Instant::never();
};

}  // namespace satrelay::stp
