// Decides whether compression with a dictionary saves bytes. A dictionary that suits the traffic
// makes small blocks half as long. A dictionary that was trained on other traffic makes blocks
// longer than they are without a dictionary, because its code tables replace the block's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::compress {

// A trial for blocks of similar size.
class DictionaryTrial {
 public:
  // Must be called once for each block. Returns whether the block should be compressed both with
  // and without the dictionary. The first kFirst blocks are tried, and then one in kEvery.
  bool is_due() {
    const std::uint64_t number = blocks_++;
    return number < kFirst || number % kEvery == 0;
  }
  // The sizes of a block, compressed with and without the dictionary, in bytes.
  void note(std::size_t with, std::size_t without) {
    if (++tries_ == kMemory) {
      tries_ /= 2;
      with_ /= 2;
      without_ /= 2;
    }
    with_ += with;
    without_ += without;
  }
  bool pays() const { return with_ <= without_; }

 private:
  static constexpr std::uint64_t kFirst = 4;
  // A prime, so that requests and answers are both tried if they alternate.
  static constexpr std::uint64_t kEvery = 17;
  // After this many tries, all sums are halved, so older tries count less and less.
  static constexpr unsigned kMemory = 64;
  std::uint64_t blocks_ = 0;
  unsigned tries_ = 0;
  std::uint64_t with_ = 0;
  std::uint64_t without_ = 0;
};

// Trials for several sizes of blocks. Short blocks gain most from a dictionary. In a single trial,
// one long block that does not gain could outweigh many short blocks.
class DictionaryTrials {
 public:
  DictionaryTrial& of(std::size_t block) {
    return trials_[block < 1024 ? 0 : block < std::size_t{8} * 1024 ? 1 : 2];
  }

 private:
  std::array<DictionaryTrial, 3> trials_;
};

}  // namespace satrelay::compress
