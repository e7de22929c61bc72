#include "relay/satpanel/users/sessions.h"

#include <gtest/gtest.h>

namespace satrelay::panel::sessions_test {
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
  EXPECT_TRUE(sessions.look_at(opened.token, kStart + minutes(29)));
  EXPECT_FALSE(sessions.look_at(opened.token, kStart + minutes(31)));
}

TEST(Sessions, EndWithTheirUserRoleOrPassword) {
  Sessions sessions;
  const auto ann = sessions.open(kAnn, kStart);
  const auto bob = sessions.open({"bob", Role::kViewer, "", ""}, kStart);
  const auto eve = sessions.open({"eve", Role::kAdministrator, "", ""}, kStart);
  const auto zoe = sessions.open({"zoe", Role::kViewer, "old", ""}, kStart);
  Users users;
  users.put(kAnn);
  users.put({"zoe", Role::kViewer, "new", ""});
  users.put({"eve", Role::kViewer, "", ""});
  sessions.keep(users);
  EXPECT_TRUE(sessions.find(ann.token, kStart));
  EXPECT_FALSE(sessions.find(bob.token, kStart));
  EXPECT_FALSE(sessions.find(eve.token, kStart));
  EXPECT_FALSE(sessions.find(zoe.token, kStart));
  sessions.close(ann.token);
  EXPECT_FALSE(sessions.find(ann.token, kStart));
}

User user(std::size_t number) { return {"user" + std::to_string(number), Role::kViewer, "", ""}; }

TEST(Sessions, AreLimitedInNumber) {
  Sessions sessions;
  const auto first = sessions.open(user(0), kStart);
  const auto second = sessions.open(user(1), kStart + seconds(1));
  for (std::size_t i = 2; i <= Sessions::kMost; ++i) sessions.open(user(i), kStart + seconds(2));
  EXPECT_FALSE(sessions.find(first.token, kStart + seconds(3)));
  EXPECT_TRUE(sessions.find(second.token, kStart + seconds(3)));
}

// A user that logs in without end must not end the sessions of other users.
TEST(Sessions, OfOneUserAreFewer) {
  Sessions sessions;
  const auto other = sessions.open(user(0), kStart);
  const auto first = sessions.open(kAnn, kStart + seconds(1));
  for (std::size_t i = 0; i < Sessions::kMost; ++i) sessions.open(kAnn, kStart + seconds(2));
  EXPECT_TRUE(sessions.find(other.token, kStart + seconds(3)));
  EXPECT_FALSE(sessions.find(first.token, kStart + seconds(3)));
}

TEST(LoginThrottle, DoublesTheWaitAfterThreeFailures) {
  LoginThrottle throttle;
  auto now = kStart;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(throttle.begin_try("ann", "192.0.2.1", now), seconds(0));
  for (const int wait : {1, 2, 4, 8, 16, 32, 60, 60}) {
    EXPECT_EQ(throttle.begin_try("ann", "192.0.2.1", now), seconds(wait));
    now += seconds(wait);
    EXPECT_EQ(throttle.begin_try("ann", "192.0.2.1", now), seconds(0));
  }
  EXPECT_EQ(throttle.begin_try("ann", "192.0.2.2", now), seconds(0)) << "another address waits";
  EXPECT_EQ(throttle.begin_try("bob", "192.0.2.1", now), seconds(0)) << "another user waits";
}

TEST(LoginThrottle, ForgetsAfterASuccess) {
  LoginThrottle throttle;
  for (int i = 0; i < 3; ++i) throttle.begin_try("ann", "192.0.2.1", kStart);
  throttle.succeeded("ann", "192.0.2.1");
  EXPECT_EQ(throttle.begin_try("ann", "192.0.2.1", kStart), seconds(0));
}

// A successful login as one user must not speed up guesses at another user's password.
TEST(LoginThrottle, IsNotResetForOthers) {
  LoginThrottle throttle;
  int tries = 0;
  for (int i = 0; i < 20; ++i) {
    tries += throttle.begin_try("ann", "192.0.2.1", kStart) == seconds(0) ? 1 : 0;
    throttle.begin_try("eve", "192.0.2.1", kStart);
    throttle.succeeded("eve", "192.0.2.1");
  }
  EXPECT_EQ(tries, 3);
}

TEST(LoginThrottle, LimitsAnAddressWhateverTheNames) {
  LoginThrottle throttle;
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(throttle.begin_try(user(i).name, "192.0.2.1", kStart), seconds(0));
  }
  EXPECT_EQ(throttle.begin_try("ann", "192.0.2.1", kStart), seconds(1));
  EXPECT_EQ(throttle.begin_try("ann", "192.0.2.1", kStart + minutes(16)), seconds(0));
}

// The owner of an IPv6 network has more addresses than the throttle can remember.
TEST(LoginThrottle, TakesANetworkOfIpv6ForOneClient) {
  LoginThrottle throttle;
  for (const char* address : {"2001:db8::1", "2001:db8::2", "2001:db8::3"}) {
    EXPECT_EQ(throttle.begin_try("ann", address, kStart), seconds(0));
  }
  EXPECT_EQ(throttle.begin_try("ann", "2001:db8::4", kStart), seconds(1));
  EXPECT_EQ(throttle.begin_try("ann", "2001:db8:0:1::4", kStart), seconds(0));
}

}  // namespace
}  // namespace satrelay::panel::sessions_test
