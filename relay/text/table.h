// Formats tables with aligned columns.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace satrelay::text {

enum class Align { kLeft, kRight };

// The treatment of a column if the table is too wide. kFold breaks its text into several lines.
// Only the last column can be folded, and only if at least 24 characters are left for it.
// Otherwise, the last columns are left out.
enum class Overflow { kLeaveOut, kFold };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  Overflow overflow = Overflow::kLeaveOut;
};
using Row = std::vector<std::string>;

// Returns a line for the titles, and a line for each row. Lines have no trailing blanks. A short
// row is filled with empty cells.
std::string format_table(const std::vector<Column>& columns, const std::vector<Row>& rows);

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

struct FittedTable {
  std::string text;
  // Titles of the columns that were left out. The last columns are left out first, since the first
  // columns identify a row.
  std::vector<std::string> left_out;
  // The length of a line with all columns, in characters.
  std::size_t needed = 0;
};
// Does the same for lines of at most `width` characters. The first column is always included.
FittedTable fit_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                      std::size_t width);

// Formats two columns without titles. If the second column does not fit, it is folded. If fewer
// than 24 characters are left for the second column, it is left out.
std::string format_pairs(const std::vector<Row>& rows, std::size_t width = kAnyWidth);

// Splits the text into lines of at most `width` characters, between words where possible.
std::vector<std::string> fold(const std::string& text, std::size_t width);

}  // namespace satrelay::text
