// Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM '96): of the members that wait, the one
// with the smallest start tag is served. While members wait, each gets its weight's share to within
// a packet. A member that had nothing to send is owed nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace satrelay::schedule {

class FairTags {
 public:
  explicit FairTags(std::size_t count) : finish_(count) {}

  // The tag of `one` among the members that wait: the smallest goes first.
  std::uint64_t start(std::size_t one) const { return std::max(finish_[one], virtual_time_); }
  // How far its tag lies beyond the tag of a member that would be served at once.
  std::uint64_t lead(std::size_t one) const { return start(one) - virtual_time_; }
  // `one` was served with `bytes`; `weight` is at least 1. Returns by how much virtual time has
  // moved on.
  std::uint64_t on_served(std::size_t one, std::uint64_t bytes, std::uint64_t weight) {
    const std::uint64_t passed = lead(one);
    virtual_time_ += passed;
    // Most weights are 1, and a division takes as long as all the rest here.
    finish_[one] = virtual_time_ + (weight == 1 ? bytes * kUnit : bytes * kUnit / weight);
    if (virtual_time_ > kMost) rebase();
    return passed;
  }
  // A member that keeps its tag elsewhere was served. Its tag lay `lead` beyond the virtual time.
  void pass(std::uint64_t lead) { virtual_time_ += lead; }

  // The length of a byte at weight 1. At weight 255, rounding loses only a fraction of a byte.
  static constexpr std::uint64_t kUnit = 1 << 10;

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

  // Only differences between tags count.
  void rebase() {
    for (std::uint64_t& finish : finish_) finish -= std::min(finish, virtual_time_);
    virtual_time_ = 0;
  }

  std::vector<std::uint64_t> finish_;
  std::uint64_t virtual_time_ = 0;
};

}  // namespace satrelay::schedule
