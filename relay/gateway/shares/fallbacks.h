// The part of a link that each worker may use once its share has expired.
//
// Workers take over their shares at different times, and a worker that hangs keeps an old share. So
// the parts must add up to at most the whole link, whatever mixture of old and new shares the
// workers use. A part may be lowered at any time, but the worker may use the old part until it has
// confirmed the share that lowered the part. Only after that may the difference be given to other
// workers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace satrelay::gateway {

// The size of the whole link, in the unit of Fallbacks::part().
inline constexpr std::uint32_t kWholeLink = 1 << 20;

class Fallbacks {
 public:
  explicit Fallbacks(unsigned workers);

  // `serial`: the number of this division, larger by one than in the previous call. `taken`: for
  // each worker, the serial of the share that it has taken over. `wanted`: for each worker, the
  // part that it needs, in any unit.
  void divide(std::uint64_t serial, std::span<const std::uint64_t> taken,
              std::span<const double> wanted);
  std::uint32_t part(unsigned worker) const { return workers_[worker].part; }

 private:
  struct Worker {
    std::uint32_t part = 0;
    // The part that the worker may be using: an old part, until the worker has confirmed a lower
    // part.
    std::uint32_t held = 0;
    std::uint32_t target = 0;
    std::uint64_t lowered = 0;  // the serial of the shares that last lowered the part
  };
  void aim(std::span<const double> wanted);

  std::vector<Worker> workers_;
};

}  // namespace satrelay::gateway
