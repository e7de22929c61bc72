#include "tests/sim/measurements.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace satrelay::sim {
namespace {

const std::string& document() {
  static const std::string text = [] {
    std::ifstream file(SATRELAY_DOCS "/measurements.md");
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }();
  return text;
}

std::string section(const std::string& heading) {
  const std::size_t begin = document().find("\n## " + heading + "\n");
  EXPECT_NE(begin, std::string::npos) << "docs/measurements.md has no section " << heading;
  if (begin == std::string::npos) return "";
  return document().substr(begin, document().find("\n## ", begin + 1) - begin);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string cell_of(const std::string& line, std::size_t column) {
  std::istringstream in(line.substr(1));
  std::string cell;
  for (std::size_t i = 0; i <= column; ++i) {
    if (!std::getline(in, cell, '|')) return "";
  }
  return cell;
}

// The text "p99 2.0%, 1,276" has the numbers 2.0 and 1276.
std::vector<std::string> numbers_in(const std::string& text) {
  const auto is_digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  std::vector<std::string> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const bool in_word = at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0;
    if (!is_digit(at) || in_word) {
      ++at;
      continue;
    }
    const bool is_negative = at > 0 && text[at - 1] == '-' && (at == 1 || text[at - 2] == ' ');
    std::string number = is_negative ? "-" : "";
    for (; is_digit(at) || (is_digit(at + 1) && (text[at] == '.' || text[at] == ',')); ++at) {
      if (text[at] != ',') number += text[at];
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::string rounded_as(const std::string& number, double figure) {
  const std::size_t point = number.find('.');
  const auto decimals = point == std::string::npos ? 0 : number.size() - point - 1;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", static_cast<int>(decimals), figure);
  const std::string rounded = text;
  const bool is_zero = rounded.find_first_of("123456789") == std::string::npos;
  return is_zero && figure < 0 ? rounded.substr(1) : rounded;  // The document writes no "-0.0".
}

}  // namespace

void expect_documented(const std::string& heading, const std::string& row, std::size_t column,
                       const std::vector<double>& figures) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(section(heading))) {
    if (line.starts_with("| " + row)) found.push_back(line);
  }
  ASSERT_EQ(found.size(), 1U) << "rows of docs/measurements.md, " << heading << ": " << row;
  const std::string cell = cell_of(found[0], column);
  std::vector<std::string> expected = numbers_in(cell);
  ASSERT_EQ(expected.size(), figures.size()) << heading << ": " << row << ":" << cell;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    EXPECT_EQ(expected[i], rounded_as(expected[i], figures[i]))
        << "docs/measurements.md, " << heading << ": " << row << ":" << cell
        << "is stale: " << figures[i];
  }
}

void expect_documented(const std::string& heading, const std::string& text) {
  EXPECT_NE(section(heading).find(text), std::string::npos)
      << "docs/measurements.md, " << heading << " should say: " << text;
}

}  // namespace satrelay::sim
