// Formats tables with aligned columns.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace satrelay::text {

enum class Align { kLeft, kRight };

// How to treat a column that does not fit. It is left out, unless it is the last one and has
// sentences, which can be folded.
enum class Overflow { kLeaveOut, kFold };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  Overflow overflow = Overflow::kLeaveOut;
};
using Row = std::vector<std::string>;

// One line for the titles, and one for each row. Lines have no blanks at their ends. A short row is
// filled with empty cells.
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
// The same for lines of at most `width` characters. The first column is always shown.
FittedTable fit_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                      std::size_t width);

// Two columns without titles. If the second one does not fit, it is folded. If fewer
// than 24 characters are left for it, it is left out.
std::string format_pairs(const std::vector<Row>& rows, std::size_t width = kAnyWidth);

// Lines of at most `width` characters, broken between words where possible.
std::vector<std::string> fold(const std::string& text, std::size_t width);

}  // namespace satrelay::text
