// The log of a refused reload is short, because the first worker writes it.
#include "relay/satrelayd/commands/refused_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace satrelay::satrelayd::refused_lines_test {
namespace {

using Lines = std::vector<std::string>;

TEST(RefusedLines, AreTheMistakesIfTheyAreFew) {
  EXPECT_EQ(refused_lines({}), Lines());
  EXPECT_EQ(refused_lines({"g.yaml:1:1: a", "g.yaml:2:1: b", "2 mistakes"}),
            (Lines{"reload: g.yaml:1:1: a", "reload: g.yaml:2:1: b", "reload: 2 mistakes"}));
}

TEST(RefusedLines, AreFewAndShort) {
  Lines mistakes(100, std::string(10'000, 'x'));
  mistakes.insert(mistakes.end(), {"and 200 more", "300 mistakes"});
  const Lines lines = refused_lines(mistakes);
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_EQ(lines[9], "reload: " + std::string(989, 'x') + "...");
  EXPECT_EQ(lines[10], "reload: 300 mistakes; satrelayd --check tells them");
}

}  // namespace
}  // namespace satrelay::satrelayd::refused_lines_test
