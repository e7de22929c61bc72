// The rates that the last trains have shown.
#pragma once

#include <array>
#include <cstddef>

#include "pep/base/units.h"

namespace satrelay::control {

class Findings {
 public:
  // usual() is the median of this many findings.
  static constexpr std::size_t kUsual = 5;

  void add(BitRate found) { rates_[count_++ % rates_.size()] = found; }
  // Sets count() to zero, but keeps the stored rates. most_of_last() may return one of them until
  // new rates have replaced them.
  void restart() { count_ = 0; }
  std::size_t count() const { return count_; }
  // The median of the last findings, because other senders make single findings too large or too
  // small. There must be at least one.
  BitRate usual() const;
  // The highest of the last `count` findings.
  BitRate most_of_last(std::size_t count) const;

 private:
  BitRate last(std::size_t index) const { return rates_[(count_ - 1 - index) % rates_.size()]; }

  std::array<BitRate, 8> rates_{};  // a ring
  std::size_t count_ = 0;
};

}  // namespace satrelay::control
