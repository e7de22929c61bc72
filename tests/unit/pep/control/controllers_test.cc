// The papers' controllers: their own numbers and equations, and what each makes of a link.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "pep/control/fixed_rate.h"
#include "pep/control/hpfp.h"
#include "pep/control/marchese_stp.h"
#include "pep/control/tps.h"
#include "tests/unit/pep/control/model_link.h"

namespace satrelay::control::test {
namespace {

Instant at_ms(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }
constexpr BitRate kTenMegabit = BitRate::bits_per_second(10'000'000);

// Section II-B (2): the initial target is half of the given one.
TEST(Hpfp, BeginsAtHalfOfItsTarget) {
  const Hpfp hpfp({kTenMegabit, BitRate::bits_per_second(8'000'000)});
  EXPECT_EQ(hpfp.rate(), BitRate::bits_per_second(4'000'000));
  const Hpfp without({kTenMegabit, {}});
  EXPECT_EQ(without.rate(), kTenMegabit.scaled(995, 2000));
}

// Table II: 6 s on a path of 500 ms.
TEST(Hpfp, ReachesItsTargetSoonerThanThePaper) {
  Hpfp hpfp({kTenMegabit, {}});
  ModelLink link;
  link.delay = Duration::milliseconds(250);
  link.report_interval = Duration::milliseconds(200);
  Model model(hpfp, link);
  double seconds = 0;
  while (hpfp.rate() < hpfp.target().scaled(99, 100) && seconds < 10) {
    model.run(Duration::milliseconds(50));
    seconds += 0.05;
  }
  std::printf("  hpfp: 99%% of the target after %.2f s\n", seconds);
  EXPECT_LT(seconds, 6);
}

// The rate moves once a control period, whatever the number of reports.
TEST(Hpfp, ControlsOncePerPeriod) {
  Hpfp hpfp({kTenMegabit, {}});
  hpfp.on_start({Duration::milliseconds(500), ByteCount(1500), at_ms(0)});
  FeedbackSample sample;
  const auto report = [&](std::int64_t ms) {
    sample.now = sample.arrived = at_ms(1000 + ms);
    sample.sent = at_ms(500 + ms);
    sample.received = ByteCount(static_cast<std::uint64_t>(ms) * 500);  // 4 Mbit/s
    hpfp.on_feedback(sample);
    return hpfp.rate();
  };
  const BitRate first = report(0);
  EXPECT_EQ(report(100), first);
  EXPECT_EQ(report(200), first);
  const BitRate second = report(250);
  EXPECT_GT(second, first);
  EXPECT_EQ(report(400), second);
  EXPECT_GT(report(500), second);
}

// Section 3: segments of 1000 bytes, rwnd 64, RTT 550 ms.
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
  // Equation 7's flow: rwnd 8 / RTT, 0.93 Mbit/s.
  for (int i = 0; i < 10; ++i) report(10'000 + 600 * i, 64);
  EXPECT_NEAR(static_cast<double>(tps.rate().to_bits_per_second()), 64 * 8000 / 0.55, 1e3);
}

TEST_F(TpsTest, TellsCongestionFromErrors) {
  send();
  report(1100, 64);
  ASSERT_EQ(tps.congestion_window(), 64U);
  report(1700, 63, 1, 1);  // one packet: an error
  EXPECT_EQ(tps.congestion_window(), 64U);
  report(2300, 58, 6, 3);  // a mixture: errors
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

// Table 1, with what TCP commonly sets: IW = 1, Th unlimited, F = 1, G = 1.
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

// What each makes of 10 Mbit/s and 550 ms from 20 s to 80 s, as a share of what the link lets
// through.
TEST(Controllers, ShareOfALossyLink) {
  std::printf("  10 Mbit/s, RTT 550 ms: share of the link's rate\n  %-12s %6s %6s %6s\n", "loss",
              "0", "1e-3", "1e-2");
  const auto measure = [](auto make, const char* name, Duration interval,
                          std::initializer_list<double> least) {
    std::printf("  %-12s", name);
    auto floor = least.begin();
    for (const double loss : {0.0, 1e-3, 1e-2}) {
      std::unique_ptr<RateController> controller = make();
      ModelLink link;
      link.loss = loss;
      link.report_interval = interval;
      Model model(*controller, link);
      model.run(Duration::seconds(20));
      model.share();
      model.run(Duration::seconds(60));
      const double share = model.share();
      std::printf(" %6.3f", share);
      EXPECT_GE(share, *floor++) << name << " at loss " << loss;
      EXPECT_LE(share, 1.001);
    }
    std::printf("\n");
  };
  const Duration rtt = Duration::milliseconds(550);
  measure([] { return std::make_unique<FixedRate>(kTenMegabit); }, "fixed_rate",
          Duration::milliseconds(25), {0.99, 0.99, 0.98});
  measure(
      [] {
        return std::make_unique<Hpfp>(Hpfp::Config{kTenMegabit, {}});
      },
      "hpfp", Duration::milliseconds(200), {0.99, 0.99, 0.98});
  measure(
      [] {
        return std::make_unique<Tps>(Tps::Config{kTenMegabit, 0});
      },
      "tps", rtt, {0.98, 0.2, 0.05});
  measure(
      [] { return std::make_unique<MarcheseStp>(MarcheseStp::Config{.capacity = kTenMegabit}); },
      "stp", Duration::milliseconds(25), {0.95, 0.95, 0.94});
}

}  // namespace
}  // namespace satrelay::control::test
