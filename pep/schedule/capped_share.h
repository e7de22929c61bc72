// Limits a preferred class of bytes to its share while another class waits. If the other class does
// not wait, the preferred class sends without limit. Bytes sent while only one class waits do not
// count, so neither class saves up its share while the other class does not wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace satrelay::schedule {

class CappedShare {
 public:
  // A share in thousandths, from 0 to 1000.
  using Permille = std::int64_t;

  // The preferred class can save up at most `burst` bytes of its unused share, and send them later.
  explicit CappedShare(std::size_t burst) : most_(static_cast<std::int64_t>(burst) * 1000) {}

  // Whether the preferred class sends next, if both classes wait.
  bool preferred() const { return balance_ >= 0; }
  // Call these functions for bytes that were sent while both classes waited. `share` is the share
  // of the preferred class.
  void on_preferred(std::size_t bytes, Permille share) {
    balance_ -= static_cast<std::int64_t>(bytes) * (1000 - share);
  }
  void on_other(std::size_t bytes, Permille share) {
    balance_ = std::min(balance_ + static_cast<std::int64_t>(bytes) * share, most_);
  }

 private:
  std::int64_t most_;
  // Unused share of the preferred class, in thousandths of a byte. It is negative after the class
  // has exceeded its share.
  std::int64_t balance_ = 0;
};

}  // namespace satrelay::schedule
