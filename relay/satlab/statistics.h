// Statistics over many values.
#pragma once

#include <span>
#include <vector>

namespace satrelay::satlab {

double mean(std::span<const double> values);  // 0 if there are no values

// Returns the smallest of the values for which at least `share` (0 to 1) of all values are not
// larger (nearest-rank method). Returns 0 if there are no values.
double percentile(std::vector<double> values, double share);

// Returns Jain's fairness index (sum x)^2 / (n sum x^2). It is 1 if all values are equal, and 1/n
// if only one value is not zero. Returns 1 if there are no values, or only zeros.
double jain_index(std::span<const double> values);

}  // namespace satrelay::satlab
