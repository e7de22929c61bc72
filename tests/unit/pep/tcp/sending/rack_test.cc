// RACK without the rest of the sender.
#include "pep/tcp/sending/rack.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::rack_test {
namespace {

Instant at(std::int64_t milliseconds) {
  return Instant::from_nanoseconds(1'000'000'000 + milliseconds * 1'000'000);
}

using Ranges = std::vector<Range>;

class RackTest : public ::testing::Test {
 protected:
  void send(std::uint64_t from, int segments, std::int64_t when) {
    for (int i = 0; i < segments; ++i, from += 1000) {
      rack_.segments().on_sent({from, from + 1000}, at(when));
    }
  }
  void deliver(std::uint64_t begin, std::uint64_t end, std::int64_t when,
               Instant echoed_before = Instant::never()) {
    rack_.on_delivered({begin, end}, {at(when), echoed_before});
  }
  Ranges lost(std::int64_t when, bool in_recovery = false) {
    Ranges ranges;
    again_ = rack_.detect({in_recovery, Duration::milliseconds(20), at(when)},
                          [&](Range range) { ranges.push_back(range); });
    return ranges;
  }
  Rack rack_;
  Instant again_;
};

TEST_F(RackTest, ThreeDeliveredAboveMakeItLostAtOnce) {
  send(0, 10, 0);
  deliver(1000, 3000, 20);
  EXPECT_EQ(lost(20), Ranges{});
  EXPECT_EQ(again_, at(25));  // a round trip and a quarter after the segment was sent
  deliver(3000, 4000, 20);
  EXPECT_EQ(lost(20), (Ranges{{0, 1000}}));
}

TEST_F(RackTest, OneDeliveredAboveIsEnoughAfterAQuarterOfARoundTrip) {
  send(0, 4, 0);
  deliver(3000, 4000, 20);
  EXPECT_EQ(lost(24), Ranges{});
  EXPECT_EQ(lost(25), (Ranges{{0, 1000}, {1000, 2000}, {2000, 3000}}));
}

TEST_F(RackTest, WhatWasSentLaterIsNotLost) {
  send(0, 4, 0);
  send(4000, 4, 10);
  deliver(1000, 4000, 20);
  EXPECT_EQ(lost(500), (Ranges{{0, 1000}}));
}

TEST_F(RackTest, ALostRetransmissionIsFoundByWhatWasSentAfterIt) {
  send(0, 4, 0);
  deliver(1000, 4000, 20);
  EXPECT_EQ(lost(20).size(), 1u);
  rack_.segments().on_retransmitted({0, 1000}, at(20));
  send(4000, 1, 21);
  EXPECT_EQ(lost(30, true), Ranges{});
  deliver(4000, 5000, 41);
  EXPECT_EQ(lost(41, true), (Ranges{{0, 1000}}));
}

TEST_F(RackTest, AfterReorderingItWaitsForTheWindowEvenWithManyAbove) {
  send(0, 10, 0);
  deliver(1000, 2000, 20);
  deliver(0, 1000, 21);  // late, but not retransmitted
  EXPECT_TRUE(rack_.reordering_seen());
  deliver(3000, 10'000, 22);
  EXPECT_EQ(lost(22), Ranges{});
  EXPECT_EQ(lost(27), (Ranges{{2000, 3000}}));  // 22 + 20 / 4
}

TEST_F(RackTest, DuplicateReportsWidenTheWindowOnceARoundTrip) {
  send(0, 10, 0);
  deliver(1000, 2000, 20);
  deliver(0, 1000, 20);
  rack_.on_duplicate_report(2000, 10'000);
  rack_.on_duplicate_report(3000, 10'000);  // in the same round
  deliver(3000, 10'000, 20);
  EXPECT_EQ(lost(29), Ranges{});
  EXPECT_EQ(again_, at(30));  // 20 + 2 * 20 / 4
  rack_.on_duplicate_report(10'000, 20'000);
  EXPECT_EQ(lost(34), Ranges{});
  EXPECT_EQ(again_, at(35));
}

TEST_F(RackTest, TheWidenedWindowIsForgottenAfterSixteenRecoveries) {
  send(0, 3, 0);
  deliver(1000, 2000, 20);
  deliver(0, 1000, 20);
  rack_.on_duplicate_report(2000, 3000);
  send(3000, 1, 0);
  deliver(3000, 4000, 20);
  for (int i = 0; i < 15; ++i) rack_.on_recovery_exit();
  EXPECT_EQ(lost(20), Ranges{});
  EXPECT_EQ(again_, at(30));
  rack_.on_recovery_exit();
  EXPECT_EQ(lost(20), Ranges{});
  EXPECT_EQ(again_, at(25));
}

TEST_F(RackTest, TheWindowIsNoLargerThanTheSmoothedRoundTrip) {
  send(0, 3, 0);
  deliver(1000, 2000, 20);
  deliver(0, 1000, 20);
  for (std::uint64_t i = 1; i < 50; ++i) rack_.on_duplicate_report(i * 1000, i * 1000 + 1);
  send(3000, 1, 0);
  deliver(3000, 4000, 20);
  EXPECT_EQ(lost(20), Ranges{});
  EXPECT_EQ(again_, at(40));
}

// Section 6.2 step 2.
TEST_F(RackTest, AnAmbiguousDeliveryOfARetransmissionSaysNothing) {
  send(0, 4, 0);
  deliver(1000, 4000, 20);
  EXPECT_EQ(lost(20).size(), 1u);
  send(4000, 1, 21);
  rack_.segments().on_retransmitted({0, 1000}, at(22));
  deliver(0, 1000, 25);  // 3 ms later, so it is the original
  EXPECT_EQ(lost(500), Ranges{});
  send(5000, 1, 100);
  rack_.segments().on_retransmitted({4000, 5000}, at(101));
  deliver(4000, 5000, 160, at(100));  // the echo is of a segment before the retransmission
  EXPECT_EQ(lost(500), Ranges{});
  rack_.segments().on_retransmitted({5000, 6000}, at(161));
  send(6000, 1, 150);
  EXPECT_EQ(lost(500), Ranges{});
}

TEST_F(RackTest, AtATimeoutWhatWasSentJustNowIsNotLost) {  // section 6.3
  send(0, 2, 0);
  deliver(1000, 2000, 20);
  send(2000, 1, 100);
  send(3000, 1, 195);
  Ranges ranges;
  rack_.detect_at_timeout({false, Duration::milliseconds(20), at(200)},
                          [&](Range range) { ranges.push_back(range); });
  EXPECT_EQ(ranges, (Ranges{{0, 1000}, {2000, 3000}}));
}

TEST(RackCost, LargeWindowWithManyHolesIsNotQuadratic) {
  // As many segments in flight as possible, every hundredth of them lost, and one report for each
  // segment.
  constexpr std::uint64_t kSegment = 1448;
  constexpr std::uint64_t kSegments = SentSegments::kMost;
  Scoreboard board;
  Rack rack;
  for (std::uint64_t i = 0; i < kSegments; ++i) {
    board.on_sent((i + 1) * kSegment);
    rack.segments().on_sent({i * kSegment, (i + 1) * kSegment}, at(0));
  }
  std::uint64_t repairs = 0;
  for (std::uint64_t i = 0; i < kSegments; ++i) {
    if (i % 100 == 0) continue;
    const Instant now = at(20) + Duration::microseconds(static_cast<std::int64_t>(i));
    board.sack({i * kSegment, (i + 1) * kSegment},
               [&](Range range) { rack.on_delivered(range, {now}); });
    rack.detect({i > 3, Duration::milliseconds(20), now},
                [&](Range range) { board.take_for_lost(range); });
    while (board.has_lost()) {
      const Range range = board.first_lost();
      board.on_retransmitted(range);
      rack.segments().on_retransmitted(range, now);
      ++repairs;
    }
  }
  EXPECT_EQ(repairs, (kSegments + 99) / 100);
  EXPECT_TRUE(board.is_consistent());
  EXPECT_TRUE(rack.segments().is_consistent());
}

}  // namespace
}  // namespace satrelay::tcp::test::rack_test
