// When reports leave.
#include "pep/stp/packets/feedback_clock.h"

#include <gtest/gtest.h>

namespace satrelay::stp {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

TEST(FeedbackClockTest, KeepsToItsBudget) {
  FeedbackClock::Config config;
  config.budget = BitRate::bits_per_second(5'000);
  FeedbackClock clock(config);
  clock.set_maximum(Duration::milliseconds(550));
  std::uint64_t bits = 0;
  // Ten seconds of packets and gaps every millisecond, 80 bytes a report.
  for (std::int64_t ms = 1000; ms < 11'000; ++ms) {
    clock.on_arrival();
    if (ms % 10 == 0) clock.on_urgent(at(ms));
    if (at(ms) >= clock.due()) {
      clock.on_report(80, true, at(ms));
      bits += 80 * 8;
    }
  }
  EXPECT_GT(bits, 40'000U);
  EXPECT_LE(bits, 10 * 5'000U + 2'000U);
}

// 10 Gbit/s of 1,500 bytes at 10% loss: a gap at any time, and 13 KB to say what is missing.
TEST(FeedbackClockTest, ReportsThatUseUpTheBudgetKeepToTheClock) {
  for (const bool dear : {false, true}) {
    FeedbackClock::Config config;
    config.budget = BitRate::bits_per_second(5'000'000);
    FeedbackClock clock(config);
    clock.set_maximum(Duration::milliseconds(500));
    clock.set_repeats(5);
    clock.on_arrival();
    clock.on_report(dear ? 13'000 : 1'300, true, at(1000));
    clock.on_arrival();
    clock.on_gap(at(1005));
    EXPECT_EQ(clock.due(), at(dear ? 1025 : 1005));
    EXPECT_EQ(clock.repeats(), dear ? 3 : 5);
  }
}

TEST(FeedbackClockTest, TheModesOfThePapersWaitForTheirClock) {
  struct Row {
    FeedbackMode mode;
    std::int64_t interval;
  };
  for (const Row row : {Row{FeedbackMode::kHpfp, 200}, Row{FeedbackMode::kMNack, 550}}) {
    FeedbackClock::Config config;
    config.mode = row.mode;
    FeedbackClock clock(config);
    clock.set_maximum(Duration::milliseconds(550));
    clock.on_arrival();
    clock.on_report(60, true, at(1000));
    clock.on_arrival();
    clock.on_gap(at(1010));
    EXPECT_EQ(clock.due(), at(1000 + row.interval));
    clock.on_urgent(at(1020));  // the end of a stream does not wait
    EXPECT_EQ(clock.due(), at(1020));
  }
}

TEST(FeedbackClockTest, SaysNothingWhenThereIsNothingToSay) {
  FeedbackClock clock({});
  EXPECT_TRUE(clock.due().is_never());
  clock.on_arrival();
  int reports = 0;
  for (std::int64_t ms = 0; ms < 1000; ++ms) {
    if (at(ms) >= clock.due()) {
      clock.on_report(60, true, at(ms));
      ++reports;
    }
  }
  EXPECT_EQ(reports, 3);
  EXPECT_TRUE(clock.due().is_never());
}

}  // namespace
}  // namespace satrelay::stp
