// Chooses the level of compression for a link of a given rate: the highest level that the processor
// can sustain beside its other work. Fast links get fast levels, slow links up to level 9.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::compress {

inline constexpr int kLowestLevel = -5;
inline constexpr int kHighestLevel = 9;  // the highest level that compress_level `auto` uses

// The level for a link if the speed of the processor is unknown. The steps are chosen for text that
// compresses to a quarter of its size: while one core fills the link, it spends a quarter of its
// time on compression (docs/measurements.md, "Compression").
constexpr int level_for(BitRate link) {
  struct Step {
    std::uint64_t megabits;
    int level;
  };
  constexpr Step kSteps[] = {{35, 9}, {45, 7}, {65, 5}, {130, 3}, {1'000, 1}};
  for (const Step& step : kSteps) {
    if (link <= BitRate::bits_per_second(step.megabits * 1'000'000)) return step.level;
  }
  return kLowestLevel;
}

// Lowers the level while compression takes too large a share of the time, and raises it again
// later.
class Effort {
 public:
  // Call after compression that took `time` and has ended at `now`.
  void spend(Duration time, Instant now) {
    spent_ = spent_ + time;
    if (now - since_ < kWindow) return;
    const double share = spent_.to_seconds() / (now - since_).to_seconds();
    if (share > kMost) most_ = std::max(most_ - 1, kLowestLevel);
    if (share < kMost / 2) most_ = std::min(most_ + 1, kHighestLevel);
    spent_ = Duration::zero();
    since_ = now;
  }
  int level(BitRate link) const {
    const int level = std::min(level_for(link), most_);
    return level == 0 ? -1 : level;  // 0 means zstd's default
  }

 private:
  static constexpr Duration kWindow = Duration::milliseconds(100);
  // Largest fraction of the worker's time that compression may take.
  static constexpr double kMost = 0.3;
  int most_ = kHighestLevel;
  Duration spent_ = Duration::zero();
  Instant since_;
};

}  // namespace satrelay::compress
