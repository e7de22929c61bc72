#include "pep/stp/streams/credit/drain_prediction.h"

#include <gtest/gtest.h>

namespace satrelay::stp::drain_prediction_test {
namespace {

constexpr std::uint64_t kLimit = 64 << 20;
constexpr Duration kAhead = Duration::milliseconds(600);
constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

// Takes `bytes` every 10 ms from `from_ms` to `to_ms`, while `backlog` bytes wait.
void read(DrainPrediction& drain, std::uint64_t bytes, std::uint64_t backlog, std::int64_t from_ms,
          std::int64_t to_ms) {
  for (std::int64_t ms = from_ms; ms < to_ms; ms += 10) {
    drain.on_taken(bytes, backlog, at(ms));
    drain.window(kLimit, kAhead, at(ms));
  }
}

TEST(DrainPredictionTest, AReaderThatKeepsUpGetsTheLimit) {
  DrainPrediction drain;
  EXPECT_EQ(drain.window(kLimit, kAhead, at(0)), kLimit);
  read(drain, 10'000, 1000, 0, 5000);
  EXPECT_EQ(drain.window(kLimit, kAhead, at(5000)), kLimit);
}

TEST(DrainPredictionTest, ABacklogShorterThanTheGrantsWayIsNoSlowness) {
  DrainPrediction drain;
  read(drain, 100, 50'000'000, 0, 590);
  EXPECT_EQ(drain.window(kLimit, kAhead, at(590)), kLimit);
}

TEST(DrainPredictionTest, ASlowReaderGetsWhatItWillTakeFourTimesOver) {
  DrainPrediction drain;
  read(drain, 10'000, 10'000'000, 0, 10'000);  // 1 MB/s: 600 kB are read until a grant has effect
  EXPECT_NEAR(static_cast<double>(drain.window(kLimit, kAhead, at(10'000))), 2'400'000, 100'000);
}

TEST(DrainPredictionTest, AStoppedReaderGetsTheSmallestWindow) {
  DrainPrediction drain;
  read(drain, 0, 10'000'000, 0, 10'000);
  EXPECT_EQ(drain.window(kLimit, kAhead, at(10'000)), DrainPrediction::kSmallestWindow);
}

TEST(DrainPredictionTest, AReaderThatHurriesIsBelievedSoon) {
  DrainPrediction drain;
  read(drain, 1'000, 10'000'000, 0, 20'000);
  read(drain, 100'000, 10'000'000, 20'000, 23'000);
  EXPECT_GT(drain.window(kLimit, kAhead, at(23'000)), 15'000'000U);
  drain.on_taken(10'000'000, 0, at(23'000));  // the reader has caught up
  EXPECT_EQ(drain.window(kLimit, kAhead, at(23'000)), kLimit);
}

}  // namespace
}  // namespace satrelay::stp::drain_prediction_test
