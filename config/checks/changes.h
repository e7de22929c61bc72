// Which changes of a configuration a running gateway applies, and which need a restart.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/model/schema.h"

namespace satrelay::config {

// Returns the keys that need a restart and that differ between the two configurations. `started` is
// the configuration with which the gateway was started. If the reason is not obvious, it follows
// the key in parentheses. The list is empty if a reload can apply `next`.
std::vector<std::string> needs_restart(const Gateway& started, const Gateway& next);

// A key of the file, and its values as texts.
struct ChangedKey {
  std::string key;
  std::string before;
  std::string after;
  friend bool operator==(const ChangedKey&, const ChangedKey&) = default;
};

// A copy of the configuration, kept until the next reload to find the keys that the reload changes.
// It holds no secrets: instead of the preshared keys of a peer, it has their 64-bit hash. It also
// has a hash instead of each dictionary.
class Changeable {
 public:
  explicit Changeable(const Gateway& config);

  // Returns the keys of the file with a value that differs from the value in `before`. The texts do
  // not show a secret, only that it has changed.
  std::vector<ChangedKey> changes_since(const Changeable& before) const;

 private:
  struct Dictionary {
    std::size_t size = 0, mark = 0;
  };
  Gateway config_;
  std::vector<std::size_t> keys_;         // hash of the preshared keys of each peer
  std::vector<Dictionary> dictionaries_;  // dictionary of each class
};

}  // namespace satrelay::config
