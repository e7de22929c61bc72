// Statistics over many values.
#pragma once

#include <span>
#include <vector>

namespace satrelay::satlab {

double mean(std::span<const double> values);  // 0 if there are none

// Returns the smallest value that at least the `share` (0 to 1) of all values do not exceed
// (nearest rank); 0 if there are no values.
double percentile(std::vector<double> values, double share);

// Jain's fairness index (sum x)^2 / (n sum x^2): 1 if all values are equal, 1/n if only one is not
// zero. Returns 1 if there are no values, or only zeros.
double jain_index(std::span<const double> values);

}  // namespace satrelay::satlab
