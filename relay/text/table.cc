#include "relay/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>

namespace satrelay::text {
namespace {

constexpr std::string_view kGap = "  ";

std::string_view cell_of(const Row& row, std::size_t i) {
  return i < row.size() ? std::string_view(row[i]) : std::string_view();
}

// fmt pads a cell to a visible width, not to a number of bytes.
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

std::vector<std::size_t> widths_of(const std::vector<Column>& columns,
                                   const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  widths.reserve(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = columns[i].title.size();
    for (const Row& row : rows) width = std::max(width, cell_of(row, i).size());
    widths.push_back(width);
  }
  return widths;
}

std::size_t line_length(const std::vector<std::size_t>& widths) {
  const std::size_t gaps = widths.empty() ? 0 : (widths.size() - 1) * kGap.size();
  return std::accumulate(widths.begin(), widths.end(), gaps);
}

// Folds the last cell of each row into lines of at most `width` characters. Each further line
// becomes a separate row.
std::vector<Row> with_last_folded(const std::vector<Row>& rows, std::size_t columns,
                                  std::size_t width) {
  std::vector<Row> folded;
  for (const Row& row : rows) {
    Row next = row;
    if (row.size() < columns) {
      folded.push_back(std::move(next));
      continue;
    }
    for (std::string& line : fold(row.back(), width)) {
      next.resize(columns);
      next.back() = std::move(line);
      folded.push_back(std::move(next));
      next.clear();
    }
  }
  return folded;
}

std::string format(const std::vector<Column>& columns, const std::vector<std::size_t>& widths,
                   const std::vector<Row>& rows) {
  Row titles;
  titles.reserve(columns.size());
  for (const Column& column : columns) titles.push_back(column.title);
  std::string text = line_of(columns, widths, titles);
  for (const Row& row : rows) text += line_of(columns, widths, row);
  return text;
}

}  // namespace

std::string format_table(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  return format(columns, widths_of(columns, rows), rows);
}

FittedTable fit_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                      std::size_t width) {
  constexpr std::size_t kNarrowest = 24;  // least width of a folded column, in characters
  std::vector<std::size_t> widths = widths_of(columns, rows);
  FittedTable table;
  table.needed = line_length(widths);
  if (table.needed <= width) {
    table.text = format(columns, widths, rows);
    return table;
  }
  if (columns.back().overflow == Overflow::kFold) {
    const std::size_t others = table.needed - widths.back();
    if (others + kNarrowest <= width) {
      widths.back() = width - others;
      table.text = format(columns, widths, with_last_folded(rows, columns.size(), widths.back()));
      return table;
    }
  }
  std::vector<Column> kept = columns;
  while (kept.size() > 1 && line_length(widths) > width) {
    table.left_out.insert(table.left_out.begin(), kept.back().title);
    kept.pop_back();
    widths.pop_back();
  }
  table.text = format(kept, widths, rows);
  return table;
}

std::string format_pairs(const std::vector<Row>& rows, std::size_t width) {
  const std::string text = fit_table({{""}, {"", Align::kLeft, Overflow::kFold}}, rows, width).text;
  return text.substr(text.find('\n') + 1);
}

std::vector<std::string> fold(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::string_view left = text;
  while (left.size() > width) {
    std::size_t end = left.rfind(' ', width);
    if (end == std::string_view::npos || end == 0) end = width;
    lines.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(left.find_first_not_of(' ', end), left.size()));
  }
  lines.emplace_back(left);
  return lines;
}

}  // namespace satrelay::text
