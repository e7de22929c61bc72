// The part of a link that each worker may use once its share has expired.
//
// Workers take their shares at different times, and a worker that hangs keeps an old share. So the
// parts in any mixture of shares must sum to no more than the whole. A part may fall at any time. A
// part rises only by what no worker may still hold. A worker holds its old part until it has taken
// the share that lowered it, and has said so.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace satrelay::gateway {

// The whole link.
inline constexpr std::uint32_t kWholeLink = 1 << 20;

class Fallbacks {
 public:
  explicit Fallbacks(unsigned workers);

  // `serial`: the number of the present shares, one more than last time. `taken`: for each worker,
  // the serial of its share. `wanted`: for each worker, in any unit.
  void divide(std::uint64_t serial, std::span<const std::uint64_t> taken,
              std::span<const double> wanted);
  std::uint32_t part(unsigned worker) const { return workers_[worker].part; }

 private:
  struct Worker {
    std::uint32_t part = 0;
    // The highest part that the worker may still hold.
    std::uint32_t held = 0;
    std::uint32_t target = 0;
    std::uint64_t lowered = 0;  // the serial that last lowered the part
  };
  void aim(std::span<const double> wanted);

  std::vector<Worker> workers_;
};

}  // namespace satrelay::gateway
