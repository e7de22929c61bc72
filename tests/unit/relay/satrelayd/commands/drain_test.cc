// A drain ends in time, even if the flows cannot be looked at.
#include "relay/satrelayd/commands/drain.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pep/base/time.h"
#include "relay/satrelayd/workers/engines.h"

namespace satrelay::satrelayd::drain_test {
namespace {

class DrainTest : public testing::Test {
 protected:
  static Instant at(int milliseconds) { return Instant() + Duration::milliseconds(milliseconds); }
  std::vector<std::string> words_;
  Engines engines_{{}};  // there are no flows
  Drain drain_{engines_, [this](const std::string& text) { words_.push_back(text); }};
};

TEST_F(DrainTest, EndsWhenItsTimeIsUpThoughNobodyCanLook) {
  drain_.begin(Duration::seconds(1), at(0));
  EXPECT_FALSE(drain_.is_over_blindly(at(0)));
  EXPECT_FALSE(drain_.is_due(at(1))) << "as often as if it had looked";
  EXPECT_FALSE(drain_.is_over_blindly(at(900)));
  EXPECT_TRUE(drain_.is_over_blindly(at(1000)));
  EXPECT_EQ(words_, std::vector<std::string>{"drain: its time is up"});
}

TEST_F(DrainTest, LooksForAWhileAfterNobodyCould) {
  drain_.begin(Duration::infinite(), at(0));
  EXPECT_FALSE(drain_.is_over(at(0)));
  EXPECT_FALSE(drain_.is_over_blindly(at(900)));
  EXPECT_FALSE(drain_.is_over(at(1100))) << "flows may have come and gone";
  EXPECT_TRUE(drain_.is_over(at(2100)));
}

}  // namespace
}  // namespace satrelay::satrelayd::drain_test
