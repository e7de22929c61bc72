// Which changes of a configuration a running gateway takes over, and which need a restart.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/model/schema.h"

namespace satrelay::config {

// The keys in which `next` differs from what the gateway was started with although it cannot change
// while it runs; each with the reason where it is not plain. Empty: `next` can be taken over.
std::vector<std::string> needs_restart(const Gateway& started, const Gateway& next);

// A key of the file, and its values as texts.
struct ChangedKey {
  std::string key;
  std::string before;
  std::string after;
  friend bool operator==(const ChangedKey&, const ChangedKey&) = default;
};

// What of a configuration a running gateway takes over, to compare with later ones. Of keys and
// dictionaries it keeps 64 bits that tell whether they are the same: who keeps it keeps no keys.
class Changeable {
 public:
  explicit Changeable(const Gateway& config);

  // The keys of the file whose values are others than in `before`. Of secrets the texts say only
  // that they are others.
  std::vector<ChangedKey> changes_since(const Changeable& before) const;

 private:
  struct Dictionary {
    std::size_t size = 0, mark = 0;
  };
  Gateway config_;
  std::vector<std::size_t> keys_;         // by peer
  std::vector<Dictionary> dictionaries_;  // by class
};

}  // namespace satrelay::config
