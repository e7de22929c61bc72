#include "pep/stp/fec/loss_runs.h"

#include <gtest/gtest.h>

#include <vector>

#include "pep/base/random.h"
#include "pep/stp/numbers/received_packets.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp::loss_runs_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }

class LossRunsTest : public ::testing::Test {
 protected:
  void arrive(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t n = begin; n < end; ++n) received_.record(n, at(0));
  }
  // Makes a whole report, in as many parts as it takes.
  void report() {
    for (bool complete = false; !complete;) {
      std::vector<std::byte> buffer(1'400);
      ByteWriter out(buffer);
      complete = received_.write_report(out, {}, at(0));
      ByteReader in(ConstBytes(buffer).first(out.written()).subspan(1));
      const FeedbackFrame frame = parse_feedback(in);
      ASSERT_TRUE(in.ok());
      runs.on_report(frame);
    }
  }
  ReceivedPackets received_;
  LossRuns runs;
};

TEST_F(LossRunsTest, WhatIsNotKnownIsOne) {
  EXPECT_EQ(runs.mean(), 1);
  arrive(0, 100);
  report();
  EXPECT_EQ(runs.mean(), 1);
}

TEST_F(LossRunsTest, ARunCountsOnceHoweverOftenItIsReported) {
  arrive(0, 10);
  arrive(15, 20);
  for (int i = 0; i < 5; ++i) report();
  EXPECT_DOUBLE_EQ(runs.mean(), (5 + 1.0) / (1 + 1));
  arrive(21, 30);  // one more run, of one packet
  report();
  EXPECT_DOUBLE_EQ(runs.mean(), (6 + 1.0) / (2 + 1));
}

TEST_F(LossRunsTest, WhatIsRepairedLaterWasLost) {
  arrive(0, 10);
  arrive(14, 20);
  report();
  for (std::uint64_t n = 10; n < 14; ++n) received_.record_repaired(n);
  arrive(20, 30);
  report();
  EXPECT_DOUBLE_EQ(runs.mean(), (4 + 1.0) / (1 + 1));
}

TEST_F(LossRunsTest, AnOutageIsNoLongRun) {
  arrive(0, 10);
  arrive(10'000, 10'010);
  report();
  EXPECT_EQ(runs.mean(), 1);
  arrive(10'073, 10'100);
  report();
  EXPECT_DOUBLE_EQ(runs.mean(), (63 + 1.0) / (1 + 1));
}

TEST_F(LossRunsTest, FollowsThePathAndIsForgotten) {
  Random random(1);
  std::uint64_t next = 0;
  const auto lose = [&](std::uint64_t run, int times) {
    for (int i = 0; i < times; ++i) {
      const std::uint64_t begin = next + run;
      next = begin + 10 + random.below(20);
      arrive(begin, next);
      if (i % 5 == 4) report();
    }
  };
  lose(8, 400);
  EXPECT_NEAR(runs.mean(), 8, 0.2);
  lose(1, 2'000);
  EXPECT_LT(runs.mean(), 1.1);
  runs.clear();
  EXPECT_EQ(runs.mean(), 1);
}

// A black hole drops the packets between small ones. That is no burst of the path.
TEST_F(LossRunsTest, RunsBelowAPacketAreForgottenAlsoIfTheyAreReportedLater) {
  for (std::uint64_t begin = 0; begin < 400; begin += 20) arrive(begin, begin + 10);
  report();
  EXPECT_GT(runs.mean(), 8);
  runs.forget_below(1'000);
  EXPECT_EQ(runs.mean(), 1);
  arrive(990, 1'200);
  arrive(1'201, 1'300);
  report();
  EXPECT_DOUBLE_EQ(runs.mean(), 1);
  arrive(1'304, 1'400);
  report();
  EXPECT_DOUBLE_EQ(runs.mean(), (1 + 4 + 1.0) / (2 + 1));
}

}  // namespace
}  // namespace satrelay::stp::loss_runs_test
