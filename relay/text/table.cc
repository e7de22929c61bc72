#include "relay/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace satrelay::text {
namespace {

constexpr std::string_view kGap = "  ";

std::string_view cell_of(const Row& row, std::size_t i) {
  return i < row.size() ? std::string_view(row[i]) : std::string_view();
}

// fmt counts what is seen of a cell, not its bytes.
std::string cell_in(std::string_view cell, std::size_t width, Align align) {
  return align == Align::kRight ? fmt::format("{:>{}}", cell, width)
                                : fmt::format("{:<{}}", cell, width);
}

std::string line_of(const std::vector<Column>& columns, const std::vector<std::size_t>& widths,
                    const Row& row) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i != 0) line += kGap;
    line += cell_in(cell_of(row, i), widths[i], columns[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line += '\n';
}

}  // namespace

std::string format_table(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  Row titles;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = columns[i].title.size();
    for (const Row& row : rows) width = std::max(width, cell_of(row, i).size());
    widths.push_back(width);
    titles.push_back(columns[i].title);
  }
  std::string text = line_of(columns, widths, titles);
  for (const Row& row : rows) text += line_of(columns, widths, row);
  return text;
}

std::string format_pairs(const std::vector<Row>& rows) {
  const std::string text = format_table({{""}, {""}}, rows);
  return text.substr(text.find('\n') + 1);
}

}  // namespace satrelay::text
