#include "relay/text/table.h"

#include <gtest/gtest.h>

namespace satrelay::text {
namespace {

TEST(Table, LinesUp) {
  EXPECT_EQ(
      format_table({{"name"}, {"n", Align::kRight}, {"x"}}, {{"a", "10"}, {"long name", "7"}}),
      "name        n  x\n"
      "a          10\n"
      "long name   7\n");
}

// As wide as its bytes, and every row alike.
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

}  // namespace
}  // namespace satrelay::text
