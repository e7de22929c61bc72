// What each worker may have of a link once its share has expired, as parts of the whole.
//
// Workers take their shares at different times, and one that hangs keeps an old share. So the parts
// that any mixture of shares names must sum to no more than the whole. A part may fall at any time.
// A part rises only by what no worker may still hold: a worker holds its old part until it says
// that it has taken the share that lowered it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace satrelay::gateway {

// All of a link.
inline constexpr std::uint32_t kWholeLink = 1 << 20;

class Fallbacks {
 public:
  explicit Fallbacks(unsigned workers);

  // `serial`: of the shares that are made now, one more than last time. `taken`: of each worker,
  // the serial of the share that it has. `wanted`: of each worker, in any unit.
  void divide(std::uint64_t serial, std::span<const std::uint64_t> taken,
              std::span<const double> wanted);
  std::uint32_t part(unsigned worker) const { return workers_[worker].part; }

 private:
  struct Worker {
    std::uint32_t part = 0;
    std::uint32_t held = 0;  // at most
    std::uint32_t target = 0;
    std::uint64_t lowered = 0;  // the serial that last lowered the part
  };
  void aim(std::span<const double> wanted);

  std::vector<Worker> workers_;
};

}  // namespace satrelay::gateway
