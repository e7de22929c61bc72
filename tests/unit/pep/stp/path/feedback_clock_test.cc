// When reports leave.
#include "pep/stp/path/feedback_clock.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace satrelay::stp::feedback_clock_test {
namespace {

ReportCost alike(std::size_t bytes) { return {.bytes = bytes, .carried = bytes}; }

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

TEST(FeedbackClockTest, KeepsToItsBudget) {
  FeedbackClock::Config config;
  config.budget = BitRate::bits_per_second(5'000);
  FeedbackClock clock(config);
  clock.set_maximum(Duration::milliseconds(550));
  std::uint64_t bits = 0;
  // Ten seconds with a packet each millisecond and an urgent report each ten. A report has 80
  // bytes.
  for (std::int64_t ms = 1000; ms < 11'000; ++ms) {
    clock.on_arrival();
    if (ms % 10 == 0) clock.on_urgent(at(ms));
    if (at(ms) >= clock.due()) {
      clock.on_report(alike(80), true, at(ms));
      bits += 80 * 8;
    }
  }
  EXPECT_GT(bits, 40'000U);
  EXPECT_LE(bits, 10 * 5'000U + 2'000U);
}

// 10 Gbit/s in packets of 1,500 bytes at 10% loss: gaps show all the time, and a report on what is
// missing takes 13 KB.
TEST(FeedbackClockTest, ReportsThatUseUpTheBudgetKeepToTheClock) {
  for (const bool dear : {false, true}) {
    FeedbackClock::Config config;
    config.budget = BitRate::bits_per_second(5'000'000);
    FeedbackClock clock(config);
    clock.set_maximum(Duration::milliseconds(500));
    clock.set_repeats(5);
    clock.on_arrival();
    clock.on_report(alike(dear ? 13'000 : 1'300), true, at(1000));
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
    clock.on_report(alike(60), true, at(1000));
    clock.on_arrival();
    clock.on_gap(at(1010));
    EXPECT_EQ(clock.due(), at(1000 + row.interval));
    clock.on_urgent(at(1020));  // the end of a stream does not wait
    EXPECT_EQ(clock.due(), at(1020));
  }
}

// A carrier of 32 kbit/s takes 31 ms for a packet of 125 bytes. Reports have a twentieth of its
// rate.
constexpr BitRate kNarrow = BitRate::bits_per_second(1'600);

FeedbackClock::Config on_carrier(ReportBudget& budget) {
  FeedbackClock::Config config;
  config.shared = &budget;
  return config;
}

// The bits of the reports that leave in `seconds`, while packets and gaps never end.
std::uint64_t bits_of(std::span<FeedbackClock> clocks, std::size_t bytes, int seconds) {
  std::uint64_t bits = 0;
  for (std::int64_t ms = 1'000; ms < (seconds + 1) * 1'000; ++ms) {
    for (FeedbackClock& clock : clocks) {
      clock.on_arrival();
      clock.on_gap(at(ms));
      if (at(ms) < clock.due()) continue;
      clock.on_report(alike(bytes), true, at(ms));
      bits += bytes * 8;
    }
  }
  return bits;
}

TEST(FeedbackClockTest, LeavesANarrowCarrierToOthers) {
  ReportBudget budget(kNarrow);
  FeedbackClock clock(on_carrier(budget));
  clock.set_maximum(Duration::milliseconds(550));
  const std::uint64_t bits = bits_of({&clock, 1}, 125, 60);
  EXPECT_LE(bits, 60 * 1'600U + 2'000U);
  EXPECT_GE(bits, 60 * 1'600U * 9 / 10);
  EXPECT_EQ(clock.interval(), Duration::milliseconds(625));
  EXPECT_EQ(clock.repeats(), 1) << "rarer than once a round trip";
}

TEST(FeedbackClockTest, SharesACarrierWithThoseOfOtherPeers) {
  ReportBudget budget(BitRate::bits_per_second(3'200));
  std::vector<FeedbackClock> clocks(4, FeedbackClock(on_carrier(budget)));
  for (FeedbackClock& clock : clocks) clock.set_maximum(Duration::milliseconds(550));
  const std::uint64_t bits = bits_of(clocks, 125, 60);
  EXPECT_LE(bits, 60 * 3'200U + 4 * 2'000U);
  EXPECT_GE(bits, 60 * 3'200U * 9 / 10);
}

TEST(FeedbackClockTest, IsHeardFromHoweverNarrowTheCarrier) {
  ReportBudget budget(BitRate::bits_per_second(50));
  FeedbackClock clock(on_carrier(budget));
  clock.on_arrival();
  clock.on_report(alike(125), true, at(1'000));
  clock.on_arrival();
  EXPECT_EQ(clock.due(), at(1'000) + FeedbackClock::kLongest);
  EXPECT_EQ(clock.interval(), FeedbackClock::kLongest);
}

TEST(FeedbackClockTest, TellsWhatOtherPeersLeaveToIt) {
  ReportBudget budget(BitRate::bits_per_second(3'200));
  FeedbackClock clock(on_carrier(budget)), other(on_carrier(budget));
  clock.on_report(alike(125), true, at(1'000));
  EXPECT_EQ(clock.interval(), Duration::milliseconds(312) + Duration::microseconds(500));
  const Duration alone = clock.tell_interval(at(1'312));
  EXPECT_LE(alone, clock.interval());
  for (int i = 0; i < 3; ++i) other.on_report(alike(125), true, at(1'312));
  EXPECT_GE(clock.tell_interval(at(1'312)), Duration::milliseconds(1'000));
  EXPECT_LE(clock.tell_interval(at(1'312)), FeedbackClock::kLongest);
}

TEST(FeedbackClockTest, AnswersARoundTripApartWhereTheCarrierIsNarrow) {
  ReportBudget budget(kNarrow);
  FeedbackClock clock(on_carrier(budget));
  clock.set_maximum(Duration::milliseconds(550));
  int answers = 0;
  for (std::int64_t ms = 1'000; ms < 4'000; ms += 10) {
    if (ms % 100 == 0) clock.on_asked();
    if (at(ms) < clock.due()) continue;
    clock.on_report(alike(125), true, at(ms));
    ++answers;
  }
  EXPECT_GE(answers, 5);
  EXPECT_LE(answers, 6);
}

TEST(ReportBudgetTest, ADebtIsPaidAtTheNewRate) {
  ReportBudget budget(kNarrow);
  budget.debit(200, at(0));
  EXPECT_EQ(budget.spent_until(), at(1'000));
  budget.set_rate(kNarrow.scaled(10, 1), at(500));
  EXPECT_EQ(budget.spent_until(), at(550));
}

TEST(FeedbackClockTest, CreditsWaitWhereTheCarrierIsNarrow) {
  ReportBudget wide(BitRate::bits_per_second(1'000'000)), narrow(kNarrow);
  FeedbackClock at_once(on_carrier(wide)), later_on(on_carrier(narrow));
  for (FeedbackClock* clock : {&at_once, &later_on}) {
    clock->on_arrival();
    clock->on_report(alike(125), true, at(1'000));
  }
  EXPECT_LE(at_once.credits_at(), at(1'000));
  EXPECT_EQ(later_on.credits_at(), at(1'000 + 625 - 100));
}

TEST(FeedbackClockTest, SaysNothingWhenThereIsNothingToSay) {
  FeedbackClock clock({});
  EXPECT_TRUE(clock.due().is_never());
  clock.on_arrival();
  int reports = 0;
  for (std::int64_t ms = 0; ms < 1000; ++ms) {
    if (at(ms) >= clock.due()) {
      clock.on_report(alike(60), true, at(ms));
      ++reports;
    }
  }
  EXPECT_EQ(reports, 3);
  EXPECT_TRUE(clock.due().is_never());
}

}  // namespace
}  // namespace satrelay::stp::feedback_clock_test
