// Whether a dictionary pays. One that fits halves small blocks; one that was trained on other
// traffic makes them longer than they are without, as its tables of codes are taken for theirs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::compress {

// Of blocks of about one size.
class DictionaryTrial {
 public:
  // Asked once a block: whether to compress it with the dictionary and without. The first few are
  // tried, and then one in kEvery.
  bool is_due() {
    const std::uint64_t number = blocks_++;
    return number < kFirst || number % kEvery == 0;
  }
  // Bytes that a block has become either way.
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
  // A prime, so that requests and answers in turn are both tried.
  static constexpr std::uint64_t kEvery = 17;
  static constexpr unsigned kMemory = 64;  // tries; those longer ago count less and less
  std::uint64_t blocks_ = 0;
  unsigned tries_ = 0;
  std::uint64_t with_ = 0;
  std::uint64_t without_ = 0;
};

// A long block of other traffic must not outweigh many short ones, which gain most.
class DictionaryTrials {
 public:
  DictionaryTrial& of(std::size_t block) {
    return trials_[block < 1024 ? 0 : block < std::size_t{8} * 1024 ? 1 : 2];
  }

 private:
  std::array<DictionaryTrial, 3> trials_;
};

}  // namespace satrelay::compress
