// The time that a session may spend on what repairs give back, as additions of one symbol to
// another: a peer with the right keys must not be able to keep a core busy with repairs that ask
// for much and say little. Both codes share it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::stp {

class RepairBudget {
 public:
  // Whether there is time for so many, which are taken then.
  bool take(std::size_t additions, Instant now) {
    const std::int64_t passed = (now - told_).to_milliseconds();
    if (passed > 0) {
      left_ = std::min(kMost, left_ + std::min(passed, kMost) * kPerMillisecond);
      told_ = now;
    }
    if (static_cast<std::int64_t>(additions) > left_) return false;
    spend(additions);
    return true;
  }
  // What could not be known before: it is owed, and taken from what comes.
  void spend(std::size_t additions) {
    left_ -= static_cast<std::int64_t>(additions);
    spent_ += additions;
  }
  std::uint64_t spent() const { return spent_; }  // additions, since the start

 private:
  // A tenth of a microsecond each: at most half of the time goes into them, and a tenth of a
  // second's worth at once.
  static constexpr std::int64_t kPerMillisecond = 5000;
  static constexpr std::int64_t kMost = 100 * kPerMillisecond;
  std::int64_t left_ = kMost;
  std::uint64_t spent_ = 0;
  Instant told_;
};

}  // namespace satrelay::stp
