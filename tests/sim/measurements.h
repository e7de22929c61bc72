// docs/measurements.md as the tests that print its figures read it, so that a stale figure fails
// them. Figures are compared as the document rounds them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace satrelay::sim {

// The numbers in one cell of a table, in order. The row is the only one under the heading (without
// "## ") that begins with `row`, which may have several cells: "1% | prompt | 4%". Columns count
// from 0.
void expect_documented(const std::string& heading, const std::string& row, std::size_t column,
                       const std::vector<double>& figures);

// A part of a sentence under the heading.
void expect_documented(const std::string& heading, const std::string& text);

}  // namespace satrelay::sim
