// Random bytes derived from a seed, for simulations and tests: the same seed gives the same bytes.
#pragma once

#include "pep/base/entropy.h"
#include "pep/base/random.h"

namespace satrelay {

class SeededEntropy final : public Entropy {
 public:
  explicit SeededEntropy(std::uint64_t seed) : random_(seed) {}
  void fill(MutableBytes out) override {
    for (std::byte& octet : out) octet = static_cast<std::byte>(random_.next());
  }

 private:
  Random random_;
};

}  // namespace satrelay
