// Columns that line up.
#pragma once

#include <string>
#include <vector>

namespace satrelay::ctl {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

// One line for the titles, one for each row; no blanks at the ends of lines. A short row is filled
// with empty cells.
std::string format_table(const std::vector<Column>& columns,
                         const std::vector<std::vector<std::string>>& rows);

// Two columns without titles.
std::string format_pairs(const std::vector<std::vector<std::string>>& rows);

}  // namespace satrelay::ctl
