// The part of a link that each worker uses after its share of the link has expired.
//
// Workers take over new shares at different times, and a worker that hangs keeps an old share. In
// any mixture of old and new shares, the parts must add up to at most the whole link. So if the
// part of a worker is lowered, other workers get the difference only after the worker has confirmed
// the share with the lower part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace satrelay::gateway {

// The value of Fallbacks::part() for the whole link.
inline constexpr std::uint32_t kWholeLink = 1 << 20;

class Fallbacks {
 public:
  explicit Fallbacks(unsigned workers);

  // `serial`: the number of this division, one more than in the previous call. `taken[w]`: the
  // serial of the latest share that worker w has taken over. `wanted[w]`: the part that worker w
  // needs, in any unit.
  void divide(std::uint64_t serial, std::span<const std::uint64_t> taken,
              std::span<const double> wanted);
  std::uint32_t part(unsigned worker) const { return workers_[worker].part; }

 private:
  struct Worker {
    std::uint32_t part = 0;
    // The largest part that the worker may use now. If `part` was lowered, this is the old part
    // until the worker has confirmed the lower part.
    std::uint32_t held = 0;
    std::uint32_t target = 0;
    std::uint64_t lowered = 0;  // serial of the division that last lowered the part
  };
  void aim(std::span<const double> wanted);

  std::vector<Worker> workers_;
};

}  // namespace satrelay::gateway
