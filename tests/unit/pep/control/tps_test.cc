// TP-S, checked against the numbers and equations of its paper.
#include "pep/control/tps.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::tps_test {
namespace {

Instant at_ms(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }
constexpr BitRate kTenMegabit = BitRate::bits_per_second(10'000'000);

// Section 3 of the paper: segments of 1000 bytes, rwnd 64, RTT 550 ms.
struct TpsTest : testing::Test {
  Tps tps{{kTenMegabit, 64}};
  TpsTest() { tps.on_start({Duration::milliseconds(550), ByteCount(1000), at_ms(0)}); }
  FeedbackSample report(std::int64_t ms, std::uint64_t received, std::uint64_t lost = 0,
                        std::uint64_t low = 0) {
    FeedbackSample sample;
    sample.now = at_ms(ms);
    sample.packets_delivered = received;
    sample.packets_lost = lost;
    sample.low_priority_packets_lost = low;
    tps.on_feedback(sample);
    return sample;
  }
  Priority send(Purpose purpose = Purpose::kNewData, std::int64_t ms = 0) {
    return tps.on_sent(purpose, ByteCount(1000), at_ms(ms));
  }
};

TEST_F(TpsTest, SuperStartSendsRwndSegmentsInTwoRoundTripsAtAlternatingPriority) {
  EXPECT_EQ(tps.congestion_window(), 32U);
  // tau = 2 RTT / rwnd.
  const Duration tau = tps.rate().time_for(ByteCount(1000));
  EXPECT_NEAR(static_cast<double>(tau.to_nanoseconds()), 2 * 550e6 / 64, 1e3);
  EXPECT_EQ(send(), Priority::kStartHigh);
  EXPECT_EQ(send(), Priority::kStartLow);
  EXPECT_EQ(send(), Priority::kStartHigh);
  EXPECT_EQ(send(Purpose::kControl), Priority::kHigh);
}

TEST_F(TpsTest, TheFirstMNackEndsTheStartAndCountsWhatCame) {
  send();
  report(600, 20);  // a report before the M-NACK is due
  EXPECT_TRUE(tps.starting());
  report(1100, 5);
  EXPECT_FALSE(tps.starting());
  EXPECT_EQ(tps.congestion_window(), 32U + 25U + 1U);
  send();
  report(1650, 32);
  report(2200, 32);
  report(9000, 32);
  EXPECT_LE(tps.congestion_window(), 64U);
  // The flow of equation 7: rwnd 8 / RTT, 0.93 Mbit/s.
  for (int i = 0; i < 10; ++i) report(10'000 + 600 * i, 64);
  EXPECT_NEAR(static_cast<double>(tps.rate().to_bits_per_second()), 64 * 8000 / 0.55, 1e3);
}

TEST_F(TpsTest, AMessageLeavesTheStartToTheFirstFlow) {
  send();
  report(1100, 1);
  EXPECT_TRUE(tps.starting());
  EXPECT_EQ(tps.congestion_window(), 32U);
  report(5000, 0);
  send(Purpose::kNewData, 5000);
  report(5600, 20);
  EXPECT_TRUE(tps.starting()) << "its first round trip";
  report(6100, 5);
  EXPECT_FALSE(tps.starting());
  EXPECT_EQ(tps.congestion_window(), 32U + 25U + 1U);
}

TEST_F(TpsTest, AStartThatLosesIsJudgedHoweverLittleItSends) {
  send();
  report(1100, 1, 4, 4);
  EXPECT_FALSE(tps.starting());
  EXPECT_LT(tps.congestion_window(), 32U);
}

TEST_F(TpsTest, TellsCongestionFromErrors) {
  send();
  report(1100, 64);
  ASSERT_EQ(tps.congestion_window(), 64U);
  report(1700, 63, 1, 1);  // a single loss counts as an error of the link
  EXPECT_EQ(tps.congestion_window(), 64U);
  report(2300, 58, 6, 3);  // losses of mixed priorities count as errors
  EXPECT_EQ(tps.congestion_window(), 64U);
  EXPECT_EQ(send(Purpose::kRetransmission), Priority::kHigh);
  EXPECT_EQ(send(Purpose::kRetransmission), Priority::kHigh);
  report(3500, 60, 4, 4);  // equation 5: low priority only
  EXPECT_EQ(tps.congestion_window(), 32U);
  EXPECT_NE(send(Purpose::kRetransmission), send(Purpose::kRetransmission));
  report(4100, 20, 12, 12);  // at most once in two round trips
  EXPECT_EQ(tps.congestion_window(), 32U);
  report(4700, 10, 20, 10);  // equation 6: more than half of the window
  EXPECT_EQ(tps.congestion_window(), 16U);
}

}  // namespace
}  // namespace satrelay::control::test::tps_test
