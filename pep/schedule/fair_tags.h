// Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM '96): of those that wait, the one with
// the smallest start tag is served. While they wait, each gets its weight's share to within a
// packet; who had nothing to send is owed nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace satrelay::schedule {

class FairTags {
 public:
  explicit FairTags(std::size_t count) : finish_(count) {}

  // Where `one` stands among those that wait: smaller goes first.
  std::uint64_t start(std::size_t one) const { return std::max(finish_[one], virtual_time_); }
  // How far it stands behind who would be served at once.
  std::uint64_t lead(std::size_t one) const { return start(one) - virtual_time_; }
  // Served with so many bytes; `weight` at least 1. By how much virtual time has moved on.
  std::uint64_t on_served(std::size_t one, std::uint64_t bytes, std::uint64_t weight) {
    const std::uint64_t passed = lead(one);
    virtual_time_ += passed;
    // Most have weight 1, and a division takes as long as all else here.
    finish_[one] = virtual_time_ + (weight == 1 ? bytes * kUnit : bytes * kUnit / weight);
    if (virtual_time_ > kMost) rebase();
    return passed;
  }
  // One that keeps a tag of its own was served, and stood so far behind.
  void pass(std::uint64_t lead) { virtual_time_ += lead; }

  // A byte at weight 1: a fraction of a byte is lost to rounding at weight 255.
  static constexpr std::uint64_t kUnit = 1 << 10;

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

  // Only differences count.
  void rebase() {
    for (std::uint64_t& finish : finish_) finish -= std::min(finish, virtual_time_);
    virtual_time_ = 0;
  }

  std::vector<std::uint64_t> finish_;
  std::uint64_t virtual_time_ = 0;
};

}  // namespace satrelay::schedule
