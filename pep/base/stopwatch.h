// Measures how long something takes, for engines that know no clock. The host of an engine may hand
// it one.
#pragma once

#include "pep/base/time.h"

namespace satrelay {

class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  virtual Instant read() const = 0;  // only differences have a meaning
};

}  // namespace satrelay
