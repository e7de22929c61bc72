// The source of random bytes for keys. An engine has no source of its own, so its host supplies
// one: a gateway reads random bytes from the kernel, and a simulation derives them from its seed.
#pragma once

#include "pep/base/bytes.h"

namespace satrelay {

class Entropy {
 public:
  virtual ~Entropy() = default;
  // Fills all of `out` with random bytes.
  virtual void fill(MutableBytes out) = 0;
};

}  // namespace satrelay
