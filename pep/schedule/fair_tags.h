// Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM '96): the waiting member with the
// smallest start tag is served next. The waiting members are served in proportion to their weights,
// to within a packet. A member that had nothing to send is not compensated later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace satrelay::schedule {

class FairTags {
 public:
  explicit FairTags(std::size_t count) : finish_(count) {}

  // The start tag of `one`. The waiting member with the smallest tag is served first.
  std::uint64_t start(std::size_t one) const { return std::max(finish_[one], virtual_time_); }
  // The start tag of `one` minus the virtual time.
  std::uint64_t lead(std::size_t one) const { return start(one) - virtual_time_; }
  // Call this after `bytes` bytes of `one` were served. `weight` is at least 1. Returns by how much
  // the virtual time has advanced.
  std::uint64_t on_served(std::size_t one, std::uint64_t bytes, std::uint64_t weight) {
    const std::uint64_t passed = lead(one);
    virtual_time_ += passed;
    // The division takes as long as the rest of the function. Most weights are 1, and need no
    // division.
    finish_[one] = virtual_time_ + (weight == 1 ? bytes * kUnit : bytes * kUnit / weight);
    if (virtual_time_ > kMost) rebase();
    return passed;
  }
  // Call this instead of on_served() if the start tag of the served member is kept outside this
  // object. `lead` is that tag minus the virtual time.
  void pass(std::uint64_t lead) { virtual_time_ += lead; }

  // The amount that one byte adds to a tag at weight 1. The amount is large, so that rounding at
  // weight 255 loses only a fraction of a byte.
  static constexpr std::uint64_t kUnit = 1 << 10;

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

  // Only differences between tags matter, so all tags may be reduced by the same amount.
  void rebase() {
    for (std::uint64_t& finish : finish_) finish -= std::min(finish, virtual_time_);
    virtual_time_ = 0;
  }

  std::vector<std::uint64_t> finish_;
  std::uint64_t virtual_time_ = 0;
};

}  // namespace satrelay::schedule
