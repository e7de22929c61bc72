#include "relay/satrelayctl/views/difference.h"

#include <gtest/gtest.h>

namespace satrelay::ctl::difference_test {
namespace {

TEST(Difference, IsOfNumbersThatHaveChanged) {
  EXPECT_EQ(difference(Json::parse(R"({"a": 1, "b": 7, "c": 5, "d": "x", "gone": 1})"),
                       Json::parse(R"({"a": 4, "b": 7, "c": 3, "d": "y", "new": 1})")),
            Json::parse(R"({"a": 3, "c": -2})"));
  EXPECT_TRUE(difference(Json::parse(R"({"a": 1})"), Json::parse(R"({"a": 1})")).is_null());
  EXPECT_TRUE(difference(Json::parse("[]"), Json::parse(R"({"a": 1})")).is_null());
}

TEST(Difference, OfEntriesHasTheirNames) {
  EXPECT_EQ(
      difference(
          Json::parse(R"([{"name": "lan", "rx": 1}, {"name": "wan", "rx": 1, "sums": {"n": 1}}])"),
          Json::parse(R"([{"name": "lan", "rx": 1}, {"name": "wan", "rx": 1, "sums": {"n": 9}}])")),
      Json::parse(R"([{"sums": {"n": 8}, "name": "wan"}])"));
}

TEST(Difference, OfACounterThatWentRound) {
  EXPECT_EQ(difference(Json(18446744073709551615U), Json(4U)), Json(5));
}

}  // namespace
}  // namespace satrelay::ctl::difference_test
