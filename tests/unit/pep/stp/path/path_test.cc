#include "pep/stp/path/path.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"

namespace satrelay::stp::path_test {
namespace {

Instant at_ms(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }

class SteadyRate final : public control::RateController {
 public:
  void on_start(const control::StartSample&) override {}
  void on_feedback(const control::FeedbackSample& sample) override { last = sample; }
  void on_capacity(BitRate) override {}
  control::Priority on_sent(control::Purpose, ByteCount, Instant) override {
    return control::Priority::kHigh;
  }
  BitRate rate() const override { return BitRate::bits_per_second(8'000'000); }
  ByteCount window() const override { return kNoWindow; }

  control::FeedbackSample last;
};

class PathTest : public ::testing::Test {
 protected:
  static Path::Config config() {
    Path::Config config;
    config.initial_rtt = Duration::milliseconds(600);
    return config;
  }
  std::uint64_t send(Instant when) {
    ledger.append(when, 1000, true, {}, path.losses.oldest_unresolved());
    path.probes.on_sent(when);
    return ledger.next() - 1;
  }

  SteadyRate controller;
  control::Pacer carrier{BitRate::bits_per_second(8'000'000), {}, Duration::milliseconds(4)};
  SentLedger ledger{1024};
  Path path{kFirstPath, config(), RateGate(carrier, controller, 28), at_ms(0)};
};

TEST_F(PathTest, AFlightLastsUntilTheReportOnItsFirstByte) {
  path.peer_feedback_interval = Duration::milliseconds(95);
  EXPECT_EQ(path.tolerance.time(), Duration::milliseconds(5));
  EXPECT_EQ(path.flight(), ByteCount(700'000));
}

TEST_F(PathTest, AReportGivesTheRoundTripWithoutThePeersDelay) {
  const std::uint64_t number = send(at_ms(0));
  FeedbackFrame report;
  report.highest = number;
  report.delay_us = 20'000;
  report.interval_ms = 50;
  const PendingReport pending = path.begin_report(report, ledger, at_ms(520));
  EXPECT_EQ(pending.rtt, Duration::milliseconds(500));
  EXPECT_EQ(path.rtt.smoothed(), Duration::milliseconds(500));
  EXPECT_EQ(path.peer_feedback_interval, Duration::milliseconds(50));
}

TEST_F(PathTest, APeerMustNotAnnounceAShorterIntervalThanOurs) {
  FeedbackFrame report;
  report.highest = send(at_ms(0));
  report.interval_ms = 0;
  (void)path.begin_report(report, ledger, at_ms(500));
  EXPECT_EQ(path.peer_feedback_interval, path.feedback.minimum());
}

TEST_F(PathTest, APathThatDelaysPacketsIsGivenMoreTime) {
  FeedbackFrame report;
  report.highest = send(at_ms(0));
  path.peer_feedback_interval = Duration::milliseconds(50);
  EXPECT_EQ(path.loss_rule(report, ledger).wait, ReorderTolerance::kMinimum);
  report.late_us = 40'000;
  EXPECT_EQ(path.loss_rule(report, ledger).wait, Duration::milliseconds(50 + 50));
}

TEST_F(PathTest, PacketsLostAtThePeersPortAreNoLossOfThePath) {
  EXPECT_EQ(path.count_losses(4, 3), 0U);
  EXPECT_DOUBLE_EQ(path.loss_rate.ratio(), 0.25);
}

// Reports are missing on packets that must have arrived, so large ones may vanish.
TEST_F(PathTest, LargePacketsAreInDoubtOnceReportsAreMissing) {
  for (int i = 0; i < 8; ++i) (void)send(at_ms(0));
  EXPECT_EQ(path.doubt_of_large_packets(ledger, at_ms(600)), PathMtu::Doubt::kNone);
  EXPECT_EQ(path.doubt_of_large_packets(ledger, at_ms(720)), PathMtu::Doubt::kSlight);
  EXPECT_EQ(path.doubt_of_large_packets(ledger, at_ms(1300)), PathMtu::Doubt::kGrave);
}

}  // namespace
}  // namespace satrelay::stp::path_test
