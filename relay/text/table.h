// Formats tables with aligned columns.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace satrelay::text {

enum class Align { kLeft, kRight };

// Treatment of a column that does not fit: it is left out. The last column may be folded instead,
// if it has sentences.
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
  // Titles of the columns that were left out: the last ones, since the first say what a row is.
  std::vector<std::string> left_out;
  // Characters in a line that would show all columns.
  std::size_t needed = 0;
};
// The same for lines of at most `width` characters. The first column is always shown.
FittedTable fit_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                      std::size_t width);

// Two columns without titles. The second one is folded if it does not fit.
std::string format_pairs(const std::vector<Row>& rows, std::size_t width = kAnyWidth);

// Lines of at most `width` characters, broken between words where possible.
std::vector<std::string> fold(const std::string& text, std::size_t width);

}  // namespace satrelay::text
