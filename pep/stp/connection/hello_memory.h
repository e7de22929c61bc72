// Remembers which HELLOs with a MAC have arrived from the peer. Each boot numbers its HELLOs, and
// no number is accepted twice. So a replayed HELLO costs only the check of its MAC, and no
// multiplication on a curve. This protection fails only if HELLOs of more than kBoots boots (starts
// of the peer's program) are replayed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::stp {

class HelloMemory {
 public:
  // Maximum number of boots for which the highest HELLO number is remembered: the boot with the
  // highest epoch, and the boots that were added last.
  static constexpr std::size_t kBoots = 8;

  // Returns true, and remembers the number, if the HELLO is newer than all earlier HELLOs of its
  // boot. The HELLO must be genuine.
  bool take(std::uint64_t epoch, std::uint32_t number) {
    const auto known = std::ranges::find(boots_, epoch, &Boot::epoch);
    if (known != boots_.end()) {
      if (number <= known->number) return false;
      known->number = number;
      return true;
    }
    // The entry with the highest epoch is not replaced. Otherwise, HELLOs of that boot could be
    // replayed.
    if (boots_[next_].epoch != 0 && boots_[next_].epoch == latest()) advance();
    boots_[next_] = {epoch, number};
    advance();
    return true;
  }

 private:
  struct Boot {
    std::uint64_t epoch = 0;  // 0 if unused
    std::uint32_t number = 0;
  };
  std::uint64_t latest() const { return std::ranges::max(boots_, {}, &Boot::epoch).epoch; }
  void advance() { next_ = (next_ + 1) % kBoots; }

  std::array<Boot, kBoots> boots_;
  std::size_t next_ = 0;
};

}  // namespace satrelay::stp
