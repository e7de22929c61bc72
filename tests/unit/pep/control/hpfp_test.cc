// HPFP, checked against the numbers of its paper.
#include "pep/control/hpfp.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/unit/pep/control/model_link.h"

namespace satrelay::control::test::hpfp_test {
namespace {

Instant at_ms(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }
constexpr BitRate kTenMegabit = BitRate::bits_per_second(10'000'000);

// Section II-B (2): the initial target is half of the configured one.
TEST(Hpfp, BeginsAtHalfOfItsTarget) {
  const Hpfp hpfp({kTenMegabit, BitRate::bits_per_second(8'000'000)});
  EXPECT_EQ(hpfp.rate(), BitRate::bits_per_second(4'000'000));
  const Hpfp without({kTenMegabit, {}});
  EXPECT_EQ(without.rate(), kTenMegabit.scaled(995, 2000));
}

// Table II of the paper: 6 s on a path of 500 ms.
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

// The rate changes once in a control period, however many reports arrive.
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
  // If a packet waited at the receiving machine, the rate of arrival until then is unknown.
  const BitRate third = hpfp.rate();
  sample.lateness = Duration::milliseconds(50);
  EXPECT_EQ(report(800), third);
  sample.lateness = Duration::zero();
  EXPECT_GT(report(850), third);
}

}  // namespace
}  // namespace satrelay::control::test::hpfp_test
