// Counts how many values fell between fixed bounds, and sums all values, as a Prometheus histogram
// requires. Adding a value costs a search among at most 15 bounds and two additions.
//
//   inline constexpr std::array<std::uint64_t, 3> kWaitBounds = {100, 1'000, 10'000};  // us
//   Histogram waits{kWaitBounds};
//   waits.add(250);  // counts in the second bucket: above 100, up to 1,000
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "pep/base/check.h"
#include "pep/base/counter_fields.h"

namespace satrelay {

class Histogram {
 public:
  static constexpr std::size_t kMostBounds = 15;
  using Bounds = std::span<const std::uint64_t>;

  // `bounds` holds the largest value of each bucket, in ascending order. Values above the last
  // bound have a bucket of their own. The bounds must outlive all copies of the histogram, so use
  // constants.
  constexpr explicit Histogram(Bounds bounds) : bounds_(bounds) {
    SATRELAY_CHECK(bounds.size() <= kMostBounds);
    SATRELAY_CHECK(std::is_sorted(bounds.begin(), bounds.end(), std::less_equal<>()));
  }

  constexpr void add(std::uint64_t value, std::uint64_t times = 1) {
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    buckets_[static_cast<std::size_t>(bucket)] += times;
    sum_ += value * times;
  }
  // Adds the counts of another worker or lane. Both histograms must have the same bounds.
  constexpr Histogram& operator+=(const Histogram& more) {
    SATRELAY_CHECK(
        std::equal(bounds_.begin(), bounds_.end(), more.bounds_.begin(), more.bounds_.end()));
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += more.buckets_[i];
    sum_ += more.sum_;
    return *this;
  }

  constexpr Bounds bounds() const { return bounds_; }
  // Number of values in each bucket, not cumulative. There is one bucket more than there are
  // bounds.
  constexpr std::span<const std::uint64_t> buckets() const {
    return std::span(buckets_).first(bounds_.size() + 1);
  }
  constexpr std::uint64_t sum() const { return sum_; }
  constexpr std::uint64_t count() const {
    std::uint64_t count = 0;
    for (const std::uint64_t bucket : buckets()) count += bucket;
    return count;
  }

 private:
  Bounds bounds_;
  std::array<std::uint64_t, kMostBounds + 1> buckets_{};
  std::uint64_t sum_ = 0;
};

// Describes a histogram for all outputs, as CounterField describes a counter.
struct HistogramField {
  const char* name;  // snake_case, stable; ends in the unit of the values, as in "queue_wait_us"
  // Name of the label that distinguishes several histograms of this field, such as "class". Empty
  // if there is only one histogram.
  const char* label;
  const char* help;  // a phrase that explains the histogram
  CounterUnit unit;
  Histogram::Bounds bounds;
};

}  // namespace satrelay
