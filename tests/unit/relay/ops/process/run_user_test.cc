// The user that a program runs as.
#include "relay/ops/process/run_user.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace satrelay::ops::run_user_test {
namespace {

TEST(RunUser, IsOneOfTheMachine) {
  const auto user = find_user("daemon");
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "daemon");
  EXPECT_NE(user->user, 0U);
  EXPECT_NE(std::ranges::find(user->groups, user->group), user->groups.end());
  EXPECT_EQ(find_user("root")->user, 0U);
  EXPECT_FALSE(find_user("nobody-has-this"));
}

TEST(RunUser, HasANameOrIsANumber) {
  EXPECT_EQ(name_of_user(0), "root");
  EXPECT_EQ(name_of_user(find_user("daemon")->user), "daemon");
  EXPECT_EQ(name_of_user(3'999'999'999), "uid 3999999999");
}

TEST(RunUser, SaysHowToMakeOne) {
  EXPECT_EQ(no_such_user("relay"),
            "this machine has no user \"relay\"; make it with: useradd --system --user-group "
            "--no-create-home --shell /usr/sbin/nologin relay");
}

}  // namespace
}  // namespace satrelay::ops::run_user_test
