// Columns that line up.
#pragma once

#include <string>
#include <vector>

namespace satrelay::text {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};
using Row = std::vector<std::string>;

// One line for the titles, one for each row; no blanks at the ends of lines. A short row is filled
// with empty cells.
std::string format_table(const std::vector<Column>& columns, const std::vector<Row>& rows);

// Two columns without titles.
std::string format_pairs(const std::vector<Row>& rows);

}  // namespace satrelay::text
