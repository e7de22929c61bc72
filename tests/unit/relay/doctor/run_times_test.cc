#include "relay/doctor/run_times.h"

#include <gtest/gtest.h>

namespace satrelay::ctl::doctor::run_times_test {
namespace {

constexpr Instant kStart = Instant() + Duration::seconds(1000);
Instant at(std::int64_t seconds) { return kStart + Duration::seconds(seconds); }

// Looks each second, and returns the times of the runs in seconds since the start.
std::vector<std::int64_t> runs(RunTimes& times, std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> begun;
  for (std::int64_t second = from; second <= to; ++second) {
    if (!times.is_due(at(second))) continue;
    times.begin(at(second));
    begun.push_back(second);
  }
  return begun;
}
using Seconds = std::vector<std::int64_t>;

TEST(RunTimes, TwoRunsWithinHalfAMinuteAndThenOneEachFiveMinutes) {
  RunTimes times(kStart);
  EXPECT_EQ(runs(times, 0, 700), (Seconds{8, 20, 320, 620}));
}

TEST(RunTimes, TwoRunsFollowAChange) {
  RunTimes times(kStart);
  runs(times, 0, 100);
  times.note_change(at(100));
  EXPECT_EQ(runs(times, 100, 500), (Seconds{101, 113, 413}));
}

TEST(RunTimes, ChangesWithoutEndLeaveTimeBetweenTheRuns) {
  RunTimes times(kStart);
  Seconds begun;
  for (std::int64_t second = 0; second <= 60; ++second) {
    times.note_change(at(second));
    const Seconds now = runs(times, second, second);
    begun.insert(begun.end(), now.begin(), now.end());
  }
  EXPECT_EQ(begun, (Seconds{8, 20, 32, 44, 56})) << "the first one does not come earlier";
}

TEST(RunTimes, ARunThatFailedIsTriedAgain) {
  RunTimes times(kStart);
  runs(times, 0, 20);
  times.note_failure(at(22));
  EXPECT_EQ(runs(times, 22, 400), (Seconds{52, 352}));
}

}  // namespace
}  // namespace satrelay::ctl::doctor::run_times_test
