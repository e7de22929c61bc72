// Statistics over many values.
#pragma once

#include <span>
#include <vector>

namespace satrelay::satlab {

double mean(std::span<const double> values);  // 0 if there are no values

// Returns a percentile by the nearest-rank method: the smallest value v in `values` such that at
// least `share` (0 to 1) of the values are v or less. Returns 0 if there are no values.
double percentile(std::vector<double> values, double share);

// Returns Jain's fairness index (sum x)^2 / (n sum x^2). It is 1 if all values are equal, and 1/n
// if only one value is not zero. Returns 1 if there are no values, or only zeros.
double jain_index(std::span<const double> values);

}  // namespace satrelay::satlab
