// Columns that line up.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace satrelay::text {

enum class Align { kLeft, kRight };

// Of a column that does not fit: it is left out, or, if it is the last one, of sentences, folded.
enum class Overflow { kLeaveOut, kFold };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  Overflow overflow = Overflow::kLeaveOut;
};
using Row = std::vector<std::string>;

// One line for the titles, one for each row; no blanks at the ends of lines. A short row is filled
// with empty cells.
std::string format_table(const std::vector<Column>& columns, const std::vector<Row>& rows);

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

struct FittedTable {
  std::string text;
  std::vector<std::string> left_out;  // titles: the last columns, as the first say what a row is
  std::size_t needed = 0;             // characters of a line that would show all columns
};
// The same for lines of at most `width` characters; but the first column is always there.
FittedTable fit_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                      std::size_t width);

// Two columns without titles; the second one is folded if it does not fit.
std::string format_pairs(const std::vector<Row>& rows, std::size_t width = kAnyWidth);

// Lines of at most `width` characters, broken between words where that can be.
std::vector<std::string> fold(const std::string& text, std::size_t width);

}  // namespace satrelay::text
