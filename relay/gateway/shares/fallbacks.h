// The part of a link that each worker may use once its share has expired.
//
// Workers take over their shares at different times, and a worker that hangs keeps an old share. So
// the parts in any mixture of old and new shares must add up to at most the whole link. A part may
// be lowered at any time. A part may be raised only by what no worker may still use. A worker may
// use its old part until it has taken over the share that lowered the part, and has confirmed that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace satrelay::gateway {

// The number of parts of the whole link.
inline constexpr std::uint32_t kWholeLink = 1 << 20;

class Fallbacks {
 public:
  explicit Fallbacks(unsigned workers);

  // `serial`: the number of the present shares, larger by one than last time. `taken`: for each
  // worker, the serial of the share that it has taken over. `wanted`: for each worker, the part
  // that it needs, in any unit.
  void divide(std::uint64_t serial, std::span<const std::uint64_t> taken,
              std::span<const double> wanted);
  std::uint32_t part(unsigned worker) const { return workers_[worker].part; }

 private:
  struct Worker {
    std::uint32_t part = 0;
    // The largest part that the worker may still use.
    std::uint32_t held = 0;
    std::uint32_t target = 0;
    std::uint64_t lowered = 0;  // the serial of the shares that last lowered the part
  };
  void aim(std::span<const double> wanted);

  std::vector<Worker> workers_;
};

}  // namespace satrelay::gateway
