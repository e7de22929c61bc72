// How long something has taken, for engines that know no clock: whoever runs one may hand it this.
#pragma once

#include "pep/base/time.h"

namespace satrelay {

class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  virtual Instant read() const = 0;  // only differences mean anything
};

}  // namespace satrelay
