#include "relay/satlab/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace satrelay::satlab {

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  // The product may be slightly above a whole number because of rounding, so subtract a little.
  const double rank = std::ceil(share * static_cast<double>(values.size()) - 1e-9);
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return values[std::min(index, values.size() - 1)];
}

double jain_index(std::span<const double> values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(values.size()) * squares);
}

}  // namespace satrelay::satlab
