#include "relay/satlab/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace satrelay::satlab::statistics_test {
namespace {

TEST(Statistics, PercentileIsTheNearestRank) {
  std::vector<double> values;
  for (int i = 1000; i >= 1; --i) values.push_back(i);
  EXPECT_DOUBLE_EQ(percentile(values, 0.5), 500);
  EXPECT_DOUBLE_EQ(percentile(values, 0.99), 990);
  EXPECT_DOUBLE_EQ(percentile(values, 1), 1000);
  EXPECT_DOUBLE_EQ(percentile(values, 0), 1);
  EXPECT_DOUBLE_EQ(percentile({7}, 0.99), 7);
  EXPECT_DOUBLE_EQ(percentile({}, 0.5), 0);
}

TEST(Statistics, Mean) {
  EXPECT_DOUBLE_EQ(mean(std::vector<double>{1, 2, 6}), 3);
  EXPECT_DOUBLE_EQ(mean({}), 0);
}

TEST(Statistics, JainIndexIsOneForEqualsAndOneNthForOneThatHasAll) {
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{5, 5, 5, 5}), 1);
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{9, 0, 0}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{1, 2, 3}), 36.0 / 42);
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{0, 0}), 1);
  EXPECT_DOUBLE_EQ(jain_index({}), 1);
}

}  // namespace
}  // namespace satrelay::satlab::statistics_test
