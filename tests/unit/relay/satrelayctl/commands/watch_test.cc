#include "relay/satrelayctl/commands/watch.h"

#include <gtest/gtest.h>

namespace satrelay::ctl::watch_test {
namespace {

TEST(FirstLines, SaysHowManyAreLeftOut) {
  EXPECT_EQ(first_lines("a\nb\nc\n", 3), "a\nb\nc\n");
  EXPECT_EQ(first_lines("a\nb\nc\nd\n", 3), "a\nb\nand 2 more lines\n");
  EXPECT_EQ(first_lines("a\nb\n", 1), "and 2 more lines\n");
  EXPECT_EQ(first_lines("", 3), "");
}

}  // namespace
}  // namespace satrelay::ctl::watch_test
