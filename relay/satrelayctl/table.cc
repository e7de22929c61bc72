#include "relay/satrelayctl/table.h"

#include <algorithm>
#include <cstddef>

namespace satrelay::ctl {
namespace {

constexpr std::size_t kGap = 2;

std::string cell_of(const std::vector<std::string>& row, std::size_t i) {
  return i < row.size() ? row[i] : std::string();
}

void append_line(std::string& out, const std::vector<Column>& columns,
                 const std::vector<std::size_t>& widths, const std::vector<std::string>& row) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string cell = cell_of(row, i);
    const std::string blanks(widths[i] - cell.size(), ' ');
    if (i != 0) line.append(kGap, ' ');
    line += columns[i].align == Align::kRight ? blanks + cell : cell + blanks;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line;
  out += '\n';
}

}  // namespace

std::string format_table(const std::vector<Column>& columns,
                         const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = columns[i].title.size();
    for (const auto& row : rows) width = std::max(width, cell_of(row, i).size());
    widths.push_back(width);
    titles.push_back(columns[i].title);
  }
  std::string out;
  append_line(out, columns, widths, titles);
  for (const auto& row : rows) append_line(out, columns, widths, row);
  return out;
}

std::string format_pairs(const std::vector<std::vector<std::string>>& rows) {
  std::string out = format_table({{""}, {""}}, rows);
  return out.erase(0, out.find('\n') + 1);
}

}  // namespace satrelay::ctl
