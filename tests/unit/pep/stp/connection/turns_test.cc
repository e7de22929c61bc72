#include "pep/stp/connection/turns.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace satrelay::stp::turns_test {
namespace {

constexpr Duration kInterval = Duration::milliseconds(10);

class TurnsTest : public ::testing::Test {
 protected:
  Instant at(std::int64_t milliseconds) const {
    return start + Duration::milliseconds(milliseconds);
  }
  Instant start = Instant::from_nanoseconds(1'700'000'000'000'000'000);
};

TEST_F(TurnsTest, ComeSoManyAtOnceAndThenAtTheirPace) {
  Turns turns(1, {kInterval, 3, Duration::zero()});
  int taken = 0;
  for (int i = 0; i < 10; ++i) taken += turns.take({}, start) ? 1 : 0;
  EXPECT_EQ(taken, 3);
  for (int ms = 1; ms <= 1'000; ++ms) taken += turns.take({}, at(ms)) ? 1 : 0;
  EXPECT_EQ(taken, 103);
  // After a rest, no more turns come at once than at the beginning.
  taken = 0;
  for (int i = 0; i < 10; ++i) taken += turns.take({}, at(100'000)) ? 1 : 0;
  EXPECT_EQ(taken, 3);
}

TEST_F(TurnsTest, KeepAGapEvenAfterARest) {
  Turns turns(1, {kInterval, 100, Duration::milliseconds(1)});
  int taken = 0;
  for (int us = 0; us < 10'000; us += 100) {
    taken += turns.take({}, start + Duration::microseconds(us)) ? 1 : 0;
  }
  EXPECT_EQ(taken, 10);
}

// One peer asks a hundred times as often as the others. A peer still waits for at most one turn of
// each other peer.
TEST_F(TurnsTest, GoRoundByPeerWhoeverAsksMost) {
  constexpr std::uint32_t kPeers = 4;
  Turns turns(kPeers, {kInterval, 1, Duration::zero()});
  std::map<std::uint32_t, int> taken;
  for (int ms = 0; ms < 1'000; ++ms) {
    for (int i = 0; i < 100; ++i) taken[0] += turns.take({.peer = 0}, at(ms)) ? 1 : 0;
    for (std::uint32_t peer = 1; ms >= 500 && peer < kPeers; ++peer) {
      taken[peer] += turns.take({.peer = peer}, at(ms)) ? 1 : 0;
    }
  }
  EXPECT_NEAR(taken[0], 50 + 13, 2);
  for (std::uint32_t peer = 1; peer < kPeers; ++peer) EXPECT_NEAR(taken[peer], 13, 1) << peer;
}

TEST_F(TurnsTest, AllLanesOfAPeerAreOneAndTakeTheirsInTurn) {
  Turns turns(2, {kInterval, 1, Duration::zero()});
  std::map<int, int> lanes;
  int other = 0;
  for (int ms = 0; ms < 1'000; ++ms) {
    for (std::uint8_t lane = 0; lane < 8; ++lane) {
      lanes[lane] += turns.take({.peer = 0, .lane = lane}, at(ms)) ? 1 : 0;
    }
    other += turns.take({.peer = 1}, at(ms)) ? 1 : 0;
  }
  EXPECT_NEAR(other, 50, 2);
  for (const auto& [lane, taken] : lanes) EXPECT_NEAR(taken, 6, 1) << lane;
}

// A session that asks again when it is told to, and never otherwise, gets its turn. No session asks
// often.
TEST_F(TurnsTest, AreFoundByAskingAgainWhenDue) {
  constexpr std::uint32_t kPeers = 300;
  constexpr std::uint8_t kLanes = 8;
  Turns turns(kPeers, {Duration::milliseconds(5), 64, Duration::zero()});
  std::vector<Turns::Who> waiting;
  std::uint64_t asked = 0, taken = 0;
  for (std::uint32_t peer = 0; peer < kPeers; ++peer) {
    for (std::uint8_t lane = 0; lane < kLanes; ++lane) {
      ++asked;
      if (turns.take({peer, lane}, start)) {
        ++taken;
      } else {
        waiting.push_back({peer, lane});
      }
    }
  }
  EXPECT_EQ(taken, 64U);
  Instant now = start;
  while (!waiting.empty()) {
    Instant next = Instant::never();
    for (const Turns::Who& who : waiting) {
      EXPECT_TRUE(turns.waits(who) || turns.due(who) <= now);
      next = earlier(next, turns.due(who));
    }
    ASSERT_FALSE(next.is_never());
    now = later(now, next);
    std::erase_if(waiting, [&](const Turns::Who& who) {
      if (turns.due(who) > now) return false;
      ++asked;
      const bool mine = turns.take(who, now);
      taken += mine ? 1 : 0;
      EXPECT_TRUE(mine || turns.due(who) > now) << "or it would be asked at once again";
      return mine;
    });
  }
  EXPECT_EQ(taken, std::uint64_t{kPeers} * kLanes);
  // As many intervals as there are turns after the first 64.
  EXPECT_EQ(now - start, Duration::milliseconds(5) * (kPeers * kLanes - 64));
  EXPECT_LE(asked, std::uint64_t{kPeers} * kLanes * (kLanes + 1));
}

TEST_F(TurnsTest, WhoLeavesKeepsNobodyWaiting) {
  Turns turns(3, {kInterval, 1, Duration::zero()});
  EXPECT_TRUE(turns.take({.peer = 0}, start));
  EXPECT_FALSE(turns.take({.peer = 1}, start));
  EXPECT_FALSE(turns.take({.peer = 2}, start));
  turns.leave({.peer = 1});
  EXPECT_FALSE(turns.waits({.peer = 1}));
  EXPECT_TRUE(turns.take({.peer = 2}, at(10)));
  // The session may come back.
  EXPECT_FALSE(turns.take({.peer = 1}, at(11)));
  EXPECT_TRUE(turns.take({.peer = 1}, at(20)));
}

}  // namespace
}  // namespace satrelay::stp::turns_test
