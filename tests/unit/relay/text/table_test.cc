#include "relay/text/table.h"

#include <gtest/gtest.h>

namespace satrelay::text::table_test {
namespace {

TEST(Table, LinesUp) {
  EXPECT_EQ(
      format_table({{"name"}, {"n", Align::kRight}, {"x"}}, {{"a", "10"}, {"long name", "7"}}),
      "name        n  x\n"
      "a          10\n"
      "long name   7\n");
}

// A column is as wide as its longest text in bytes, and all rows line up.
TEST(Table, LinesUpInAnyScript) {
  EXPECT_EQ(format_table({{"name"}, {"n", Align::kRight}}, {{"ba\xc3\xb1o", "1"}, {"abc", "2"}}),
            "name   n\n"
            "ba\xc3\xb1o   1\n"
            "abc    2\n");
}

TEST(Table, PairsHaveNoTitles) {
  EXPECT_EQ(format_pairs({{"uptime", "1 s"}, {"flows", "2"}}),
            "uptime  1 s\n"
            "flows   2\n");
}

TEST(Table, LeavesOutTheLastColumnsThatDoNotFit) {
  const std::vector<Column> columns{{"name"}, {"n", Align::kRight}, {"much"}, {"x"}};
  const std::vector<Row> rows{{"a", "10", "0123456789", "y"}, {"b"}};
  const FittedTable all = fit_table(columns, rows, 23);
  EXPECT_EQ(all.text, format_table(columns, rows));
  EXPECT_TRUE(all.left_out.empty());
  const FittedTable some = fit_table(columns, rows, 22);
  EXPECT_EQ(some.text,
            "name   n  much\n"
            "a     10  0123456789\n"
            "b\n");
  EXPECT_EQ(some.left_out, std::vector<std::string>{"x"});
  EXPECT_EQ(some.needed, 23U);
  const FittedTable one = fit_table(columns, rows, 1);
  EXPECT_EQ(one.text, "name\na\nb\n");
  EXPECT_EQ(one.left_out, (std::vector<std::string>{"n", "much", "x"}));
}

TEST(Table, FoldsSentencesInTheLastColumn) {
  const std::vector<Column> columns{{"a"}, {"meaning", Align::kLeft, Overflow::kFold}};
  const std::vector<Row> rows{{"x", "one two three four five six seven"}, {"y", "short"}};
  const FittedTable folded = fit_table(columns, rows, 27);
  EXPECT_EQ(folded.text,
            "a  meaning\n"
            "x  one two three four five\n"
            "   six seven\n"
            "y  short\n");
  EXPECT_TRUE(folded.left_out.empty());
  // If a sentence does not fit, the column is left out.
  EXPECT_EQ(fit_table(columns, rows, 20).left_out, std::vector<std::string>{"meaning"});
  EXPECT_EQ(format_pairs(rows, 27),
            "x  one two three four five\n"
            "   six seven\n"
            "y  short\n");
}

TEST(Fold, BreaksBetweenWordsWhereItCan) {
  EXPECT_EQ(fold("", 5), std::vector<std::string>{""});
  EXPECT_EQ(fold("one two", 7), std::vector<std::string>{"one two"});
  EXPECT_EQ(fold("one two", 6), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(fold("one two", 3), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(fold("undividable", 4), (std::vector<std::string>{"undi", "vida", "ble"}));
}

}  // namespace
}  // namespace satrelay::text::table_test
