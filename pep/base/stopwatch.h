// A clock that measures how long work takes. Engines have no clock, so the host of an engine may
// supply this clock.
#pragma once

#include "pep/base/time.h"

namespace satrelay {

class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  virtual Instant read() const = 0;  // only differences between readings have a meaning
};

}  // namespace satrelay
