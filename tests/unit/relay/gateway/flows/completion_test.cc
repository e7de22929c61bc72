#include "relay/gateway/flows/completion.h"

#include <gtest/gtest.h>

namespace satrelay::gateway::completion_test {
namespace {

TEST(Completions, AFlowIsAmongThoseOfItsSize) {
  Completions completions;
  completions.add(10'000, Duration::milliseconds(700));
  completions.add(10'001, Duration::milliseconds(700));
  completions.add(1ULL << 50, Duration::seconds(100));
  EXPECT_EQ(completions.by_size()[0].count(), 1U);
  EXPECT_EQ(completions.by_size()[0].sum(), 700'000U);
  EXPECT_EQ(completions.by_size()[0].buckets()[3], 1U) << "up to 750 ms";
  EXPECT_EQ(completions.by_size()[1].count(), 1U);
  EXPECT_EQ(completions.by_size()[4].count(), 1U);
  EXPECT_EQ(completions.by_size()[4].buckets().back(), 1U) << "beyond all bounds";
}

}  // namespace
}  // namespace satrelay::gateway::completion_test
