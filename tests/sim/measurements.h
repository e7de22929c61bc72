// Reads docs/measurements.md for the tests that print its figures, so that a stale figure fails
// them. Figures are compared as the document rounds them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace satrelay::sim {

// Expects `figures` to be the numbers in one cell of a table, in order. The row is the only one
// under the heading (without "## ") that begins with `row`. `row` may hold several cells: "1% |
// prompt | 4%". Columns count from 0.
void expect_documented(const std::string& heading, const std::string& row, std::size_t column,
                       const std::vector<double>& figures);

// Expects a part of a sentence under the heading.
void expect_documented(const std::string& heading, const std::string& text);

}  // namespace satrelay::sim
