// Where the random bytes of keys come from: engines have no source of their own. The gateway's is
// the kernel's, a simulation's follows from its seed.
#pragma once

#include "pep/base/bytes.h"

namespace satrelay {

class Entropy {
 public:
  virtual ~Entropy() = default;
  // Bytes that nobody can foresee, all of `out`.
  virtual void fill(MutableBytes out) = 0;
};

}  // namespace satrelay
