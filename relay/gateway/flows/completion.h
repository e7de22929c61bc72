// Measures the durations of flows that ended in order, with a histogram for each class of size.
// Round trips determine the duration of short flows. The rate of the link determines the duration
// of long flows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "pep/base/counter_fields.h"
#include "pep/base/histogram.h"
#include "pep/base/time.h"

namespace satrelay::gateway {

// Bounds of the time from a flow's SYN, or its OPEN, until the flow has nothing left to deliver, in
// microseconds. They reach from about one round trip of a geostationary link to a minute.
inline constexpr std::array<std::uint64_t, 12> kCompletionBounds = {
    100'000,   250'000,   500'000,    750'000,    1'000'000,  1'500'000,
    2'500'000, 5'000'000, 10'000'000, 20'000'000, 30'000'000, 60'000'000};

inline constexpr HistogramField kFlowCompletion = {
    "flow_completion_us", "size",
    "duration of flows that finished, by the bytes of both directions", CounterUnit::kMicroseconds,
    kCompletionBounds};

class Completions {
 public:
  // A size class of flows. The size of a flow is the number of plain bytes in both directions
  // together, and `most` is the maximum size. A flow belongs to the first class in which it fits.
  struct Size {
    const char* name;  // the label of the metric
    std::uint64_t most;
  };
  static constexpr std::array<Size, 5> kSizes{{
      {"10kB", 10'000},
      {"100kB", 100'000},
      {"1MB", 1'000'000},
      {"10MB", 10'000'000},
      {"more", std::numeric_limits<std::uint64_t>::max()},
  }};

  void add(std::uint64_t bytes, Duration time) {
    std::size_t size = 0;
    while (bytes > kSizes[size].most) ++size;
    by_size_[size].add(static_cast<std::uint64_t>(time.to_microseconds()));
  }
  // One histogram for each element of kSizes, in the same order.
  const auto& by_size() const { return by_size_; }

 private:
  static constexpr Histogram kNone{kCompletionBounds};
  std::array<Histogram, kSizes.size()> by_size_{kNone, kNone, kNone, kNone, kNone};
};

}  // namespace satrelay::gateway
