// Marchese's STP, checked against the tables and equations of its paper.
#include "pep/control/marchese_stp.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::marchese_stp_test {
namespace {

Instant at_ms(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }
constexpr BitRate kTenMegabit = BitRate::bits_per_second(10'000'000);

// Table 1 with TCP's common settings: IW = 1, Th unlimited, F = 1, G = 1.
TEST(MarcheseStp, WithTcpsParametersDoublesItsWindow) {
  MarcheseStp stp({.capacity = kTenMegabit,
                   .initial_window = 1,
                   .threshold = 8,
                   .growth = 1,
                   .avoidance = 1,
                   .buffer = ByteCount(1'000'000)});
  stp.on_start({Duration::milliseconds(511), ByteCount(1500), at_ms(0)});
  const auto round = [&] {
    FeedbackSample sample;
    sample.packets_delivered = stp.congestion_window().value() / 1500;
    sample.newly_delivered = ByteCount(sample.packets_delivered * 1500);
    stp.on_feedback(sample);
    return stp.congestion_window().value() / 1500;
  };
  EXPECT_EQ(round(), 2U);
  EXPECT_EQ(round(), 4U);
  EXPECT_EQ(round(), 8U);
  EXPECT_EQ(round(), 9U);  // cwnd >= ssthresh
  EXPECT_EQ(round(), 10U);
}

// Section IV: F = K = 10, IW = 6, buffers of 320 KB: the window is half of the buffer.
TEST(MarcheseStp, TheWindowIsHalfOfTheBufferAtMost) {
  MarcheseStp stp({.capacity = BitRate::bits_per_second(2'048'000), .buffer = ByteCount(320'000)});
  stp.on_start({Duration::milliseconds(511), ByteCount(1500), at_ms(0)});
  EXPECT_EQ(stp.window(), ByteCount(6 * 1500));
  FeedbackSample sample;
  sample.packets_delivered = 6;
  stp.on_feedback(sample);
  EXPECT_EQ(stp.window(), ByteCount(66 * 1500));
  sample.packets_delivered = 66;
  stp.on_feedback(sample);
  EXPECT_EQ(stp.window(), ByteCount(160'000));
  // Loss is attributed to the channel (section V).
  sample = {};
  sample.packets_lost = 20;
  stp.on_feedback(sample);
  EXPECT_EQ(stp.window(), ByteCount(160'000));
}

// Section IV: 2048 kbit/s x 0.511 s, "a TCP buffer of about 260 Kbytes".
TEST(MarcheseStp, TheIdealBufferIsTwiceWhatTheLinkHolds) {
  MarcheseStp stp({.capacity = BitRate::bits_per_second(2'048'000), .initial_window = 1000});
  stp.on_start({Duration::milliseconds(511), ByteCount(1500), at_ms(0)});
  EXPECT_NEAR(static_cast<double>(stp.window().value()), 260'000 / 2, 2'000);
}

TEST(MarcheseStp, TheWindowIsNeverShut) {
  MarcheseStp stp({.capacity = kTenMegabit, .buffer = ByteCount(1)});
  stp.on_start({Duration::milliseconds(511), ByteCount(1500), at_ms(0)});
  EXPECT_EQ(stp.window(), ByteCount(1));
}

}  // namespace
}  // namespace satrelay::control::test::marchese_stp_test
