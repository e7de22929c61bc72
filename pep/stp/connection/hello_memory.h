// Which HELLOs of the peer have come: each boot numbers its own, and none is read twice. So who
// plays recorded ones again makes nobody work, however many are recorded, unless they are of more
// boots than are remembered here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::stp {

class HelloMemory {
 public:
  // Boots of which the newest number is known: the latest boot, and the others that came last.
  static constexpr std::size_t kBoots = 8;

  // Of a HELLO that somebody with the secret has written: whether it is newer than all of its boot.
  // It is known from then on.
  bool take(std::uint64_t epoch, std::uint32_t number) {
    const auto known = std::ranges::find(boots_, epoch, &Boot::epoch);
    if (known != boots_.end()) {
      if (number <= known->number) return false;
      known->number = number;
      return true;
    }
    // The latest boot keeps its place: a later one is always new, and stays known.
    if (boots_[next_].epoch != 0 && boots_[next_].epoch == latest()) advance();
    boots_[next_] = {epoch, number};
    advance();
    return true;
  }

 private:
  struct Boot {
    std::uint64_t epoch = 0;  // 0: none
    std::uint32_t number = 0;
  };
  std::uint64_t latest() const { return std::ranges::max(boots_, {}, &Boot::epoch).epoch; }
  void advance() { next_ = (next_ + 1) % kBoots; }

  std::array<Boot, kBoots> boots_;
  std::size_t next_ = 0;
};

}  // namespace satrelay::stp
