// Whether a dictionary pays. One that fits halves small blocks; one that was trained on other
// traffic makes them longer than they are without, as its tables of codes are taken for theirs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace satrelay::compress {

class DictionaryTrial {
 public:
  // Asked before each block: whether to compress it with the dictionary and without. The first is
  // tried, and then one in kEvery.
  bool is_due() { return blocks_++ % kEvery == 0; }
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
  // A prime, so that requests and answers in turn are both tried.
  static constexpr std::uint64_t kEvery = 17;
  static constexpr unsigned kMemory = 64;  // tries; those longer ago count less and less
  std::uint64_t blocks_ = 0;
  unsigned tries_ = 0;
  std::uint64_t with_ = 0;
  std::uint64_t without_ = 0;
};

}  // namespace satrelay::compress
