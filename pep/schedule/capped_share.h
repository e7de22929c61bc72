// What a preferred class of bytes may take while another one waits: its share of the two, and no
// more. Without the other it takes all, and neither saves up for later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace satrelay::schedule {

class CappedShare {
 public:
  // Parts of a thousand, 0 to 1000.
  using Permille = std::int64_t;

  // `burst`: bytes of its share that the preferred class may have left unused.
  explicit CappedShare(std::size_t burst) : most_(static_cast<std::int64_t>(burst) * 1000) {}

  // Whose turn it is while both wait.
  bool preferred() const { return balance_ >= 0; }
  // To be told of bytes that left while both waited.
  void on_preferred(std::size_t bytes, Permille share) {
    balance_ -= static_cast<std::int64_t>(bytes) * (1000 - share);
  }
  void on_other(std::size_t bytes, Permille share) {
    balance_ = std::min(balance_ + static_cast<std::int64_t>(bytes) * share, most_);
  }

 private:
  std::int64_t most_;
  std::int64_t balance_ = 0;  // thousandths of a byte
};

}  // namespace satrelay::schedule
