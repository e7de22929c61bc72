#include "relay/satpanel/sessions.h"

#include <gtest/gtest.h>

namespace satrelay::panel {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Sessions::Instant kStart{};
const User kAnn{"ann", Role::kOperator, "", ""};

TEST(Sessions, LastWhileTheyAreUsed) {
  Sessions sessions;
  const auto opened = sessions.open(kAnn, kStart);
  EXPECT_EQ(opened.token.size(), 64U);
  EXPECT_NE(opened.token, opened.session.csrf);
  EXPECT_EQ(sessions.find(opened.token, kStart + minutes(29))->user, "ann");
  EXPECT_TRUE(sessions.find(opened.token, kStart + minutes(58)));
  EXPECT_FALSE(sessions.find(opened.token, kStart + minutes(58 + 31)));
  EXPECT_FALSE(sessions.find("", kStart));
}

TEST(Sessions, EndAtLastHoweverMuchTheyAreUsed) {
  Sessions sessions;
  const auto opened = sessions.open(kAnn, kStart);
  minutes at(0);
  while (sessions.find(opened.token, kStart + at)) at += minutes(20);
  EXPECT_EQ(at, minutes(12 * 60 + 20));
}

TEST(Sessions, AreNotUsedByBeingLookedAt) {
  Sessions sessions;
  const auto opened = sessions.open(kAnn, kStart);
  EXPECT_TRUE(sessions.is_open(opened.token, kStart + minutes(29)));
  EXPECT_FALSE(sessions.is_open(opened.token, kStart + minutes(31)));
}

TEST(Sessions, EndWithTheirUserOrRole) {
  Sessions sessions;
  const auto ann = sessions.open(kAnn, kStart);
  const auto bob = sessions.open({"bob", Role::kViewer, "", ""}, kStart);
  const auto eve = sessions.open({"eve", Role::kAdministrator, "", ""}, kStart);
  Users users;
  users.put(kAnn);
  users.put({"eve", Role::kViewer, "", ""});
  sessions.keep(users);
  EXPECT_TRUE(sessions.find(ann.token, kStart));
  EXPECT_FALSE(sessions.find(bob.token, kStart));
  EXPECT_FALSE(sessions.find(eve.token, kStart));
  sessions.close(ann.token);
  EXPECT_FALSE(sessions.find(ann.token, kStart));
}

TEST(Sessions, AreLimitedInNumber) {
  Sessions sessions;
  const auto first = sessions.open(kAnn, kStart);
  const auto second = sessions.open(kAnn, kStart + seconds(1));
  for (std::size_t i = 2; i <= Sessions::kMost; ++i) sessions.open(kAnn, kStart + seconds(2));
  EXPECT_FALSE(sessions.find(first.token, kStart + seconds(3)));
  EXPECT_TRUE(sessions.find(second.token, kStart + seconds(3)));
}

TEST(LoginThrottle, DoublesTheWaitAfterThreeFailures) {
  LoginThrottle throttle;
  auto now = kStart;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(throttle.begin_try("192.0.2.1", now), seconds(0));
  for (const int wait : {1, 2, 4, 8, 16, 32, 60, 60}) {
    EXPECT_EQ(throttle.begin_try("192.0.2.1", now), seconds(wait));
    now += seconds(wait);
    EXPECT_EQ(throttle.begin_try("192.0.2.1", now), seconds(0));
  }
  EXPECT_EQ(throttle.begin_try("192.0.2.2", now), seconds(0)) << "another one waits for it";
}

TEST(LoginThrottle, ForgetsAfterASuccess) {
  LoginThrottle throttle;
  for (int i = 0; i < 3; ++i) throttle.begin_try("192.0.2.1", kStart);
  throttle.succeeded("192.0.2.1");
  EXPECT_EQ(throttle.begin_try("192.0.2.1", kStart), seconds(0));
}

// Who has a network of IPv6 has more addresses than can be remembered.
TEST(LoginThrottle, TakesANetworkOfIpv6ForOneClient) {
  LoginThrottle throttle;
  for (const char* address : {"2001:db8::1", "2001:db8::2", "2001:db8::3"}) {
    EXPECT_EQ(throttle.begin_try(address, kStart), seconds(0));
  }
  EXPECT_EQ(throttle.begin_try("2001:db8::4", kStart), seconds(1));
  EXPECT_EQ(throttle.begin_try("2001:db8:0:1::4", kStart), seconds(0));
}

}  // namespace
}  // namespace satrelay::panel
