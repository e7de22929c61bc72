// The source of random bytes for keys. An engine has no source of its own, so its host supplies
// one: a gateway reads the kernel's, and a simulation derives the bytes from its seed.
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
