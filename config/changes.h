// Which changes of a configuration a running gateway takes over, and which need a restart.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/schema.h"

namespace satrelay::config {

// The keys in which `next` differs from what the gateway was started with although it cannot change
// while it runs; each with the reason where it is not plain. Empty: `next` can be taken over.
std::vector<std::string> needs_restart(const Gateway& started, const Gateway& next);

// What of a configuration a running gateway takes over, to compare with later ones. Of keys and
// dictionaries it keeps 64 bits that tell whether they are the same: who keeps it keeps no keys.
class Changeable {
 public:
  explicit Changeable(const Gateway& config);

  // The keys of the file whose values are others than in `before`.
  std::vector<std::string> changes_since(const Changeable& before) const;

 private:
  Gateway config_;
  std::vector<std::size_t> keys_;          // by peer
  std::vector<std::size_t> dictionaries_;  // by class
};

}  // namespace satrelay::config
