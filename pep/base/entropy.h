// The source of the random bytes of keys: engines have no source of their own. A gateway takes them
// from the kernel, and a simulation derives them from its seed.
#pragma once

#include "pep/base/bytes.h"

namespace satrelay {

class Entropy {
 public:
  virtual ~Entropy() = default;
  // Fills all of `out` with bytes that cannot be foreseen.
  virtual void fill(MutableBytes out) = 0;
};

}  // namespace satrelay
