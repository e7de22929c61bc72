#include "pep/control/capacity/capacity_finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "tests/unit/pep/control/model_link.h"

namespace satrelay::control::test::capacity_finder_test {
namespace {

using State = CapacityFinder::State;
constexpr BitRate megabit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }
constexpr BitRate kNoCeiling = BitRate::bits_per_second(100'000'000'000);
constexpr Duration kRtt = Duration::milliseconds(550);

double megabits(BitRate rate) { return static_cast<double>(rate.to_bits_per_second()) / 1e6; }

TEST(CapacityFinder, BeginsWithLittleAndATrain) {
  CapacityFinder finder(kNoCeiling);
  finder.on_start({kRtt, ByteCount(1500), Instant() + Duration::seconds(1)});
  EXPECT_EQ(finder.state(), State::kStarting);
  EXPECT_LT(finder.sustained_rate(), megabit(1));
  EXPECT_GE(finder.rate(), megabit(100));
  EXPECT_EQ(finder.lead(), ByteCount(0)) << "the first packet waits for its turn";
  finder.on_sent(Purpose::kNewData, ByteCount(1500), Instant() + Duration::seconds(1));
  EXPECT_EQ(finder.lead(), ByteCount(16 * 1500));
  EXPECT_TRUE(finder.capacity().is_zero());
}

TEST(CapacityFinder, NeverExceedsItsCeiling) {
  CapacityFinder finder(megabit(4));
  Model model(finder, {});
  for (int i = 0; i < 100; ++i) {
    model.run(Duration::milliseconds(100));
    ASSERT_LE(finder.rate(), megabit(4));
  }
  EXPECT_EQ(finder.capacity(), megabit(4));
  EXPECT_EQ(finder.rate(), megabit(4).scaled(995, 1000));
}

TEST(CapacityFinder, FindsLinksOfAnyRateThatLoseDelayAndReport) {
  ModelLink plain, lossy, jittery, silent;
  lossy.loss = 0.05;
  jittery.jitter = Duration::milliseconds(5);
  silent.lost_reports = 0.3;
  struct Case {
    const char* what;
    ModelLink link;
    double least;
  };
  for (const Case& c :
       {Case{"plain", plain, 0.95}, Case{"5% loss", lossy, 0.90},
        Case{"jitter of 5 ms", jittery, 0.8}, Case{"3 of 10 reports lost", silent, 0.94}}) {
    for (const std::uint64_t rate : {2, 10, 40}) {
      CapacityFinder finder(kNoCeiling);
      ModelLink link = c.link;
      link.rate = megabit(rate);
      link.queue = link.rate.bytes_in(Duration::milliseconds(100));
      Model model(finder, link);
      model.run(Duration::seconds(8));
      model.share();
      model.run(Duration::seconds(30));
      const double share = model.share();
      std::printf("  %s, %d Mbit/s: found %.2f, %.3f arrive\n", c.what, static_cast<int>(rate),
                  megabits(finder.capacity()), share);
      EXPECT_GT(share, c.least) << c.what << " at " << rate;
    }
  }
}

TEST(CapacityFinder, AFadeIsACutAndItsEndIsNone) {
  CapacityFinder finder(kNoCeiling);
  ModelLink link;
  link.rate = megabit(20);
  link.queue = megabit(20).bytes_in(Duration::milliseconds(100));
  Model model(finder, link);
  model.run(Duration::seconds(6));
  EXPECT_NEAR(megabits(finder.capacity()), 20, 1);
  model.link.rate = megabit(4);
  int draining = 0;
  for (int i = 0; i < 400 && finder.state() != State::kDraining; ++i, ++draining) {
    model.run(Duration::milliseconds(10));
  }
  EXPECT_LT(draining, 100);
  EXPECT_EQ(finder.cut_cause(), CutCause::kDelay);
  model.run(Duration::seconds(3));
  EXPECT_NEAR(megabits(finder.capacity()), 4, 0.3);
  model.link.rate = megabit(20);
  model.run(Duration::seconds(4));
  EXPECT_NEAR(megabits(finder.capacity()), 20, 1);
  EXPECT_EQ(finder.state(), State::kCruising);
}

TEST(CapacityFinder, AnOutageIsNoFade) {
  CapacityFinder finder(kNoCeiling);
  Model model(finder, {});
  model.run(Duration::seconds(6));
  const BitRate before = finder.capacity();
  model.link.cut = true;
  model.run(Duration::seconds(3));
  model.link.cut = false;
  model.run(Duration::seconds(3));
  EXPECT_GT(finder.capacity(), before.scaled(9, 10));
}

// Reports that come only each 2 s cannot measure a train. The finder approaches the capacity step
// by step.
TEST(CapacityFinder, RareReportsAreEnough) {
  CapacityFinder finder(kNoCeiling);
  ModelLink link;
  link.report_interval = Duration::seconds(2);
  Model model(finder, link);
  model.run(Duration::seconds(120));
  model.share();
  model.run(Duration::seconds(60));
  const double share = model.share();
  std::printf("  a report each 2 s: found %.2f of 10, %.3f arrive\n", megabits(finder.capacity()),
              share);
  EXPECT_GT(share, 0.7);
  EXPECT_LT(finder.sustained_rate(), megabit(11));
}

TEST(CapacityFinder, APathThatBecomesLongerIsSeenToHaveNoQueue) {
  CapacityFinder finder(kNoCeiling);
  ModelLink link;
  link.delay = Duration::milliseconds(15);
  Model model(finder, link);
  model.run(Duration::seconds(5));
  model.link.delay = Duration::milliseconds(40);
  model.run(Duration::seconds(5));
  EXPECT_LT(finder.queue(), Duration::milliseconds(8));
  EXPECT_EQ(finder.state(), State::kCruising);
  EXPECT_GT(finder.sustained_rate(), megabit(10).scaled(95, 100));
}

TEST(CapacityFinder, WhatWasFoundGrowsStaleWithoutData) {
  CapacityFinder finder(kNoCeiling);
  Model model(finder, {});
  model.run(Duration::seconds(6));
  EXPECT_FALSE(finder.capacity().is_zero());
  model.sending = false;
  model.run(Duration::seconds(12));
  EXPECT_TRUE(finder.capacity().is_zero());
  model.sending = true;
  model.run(Duration::milliseconds(10));
  EXPECT_FALSE(finder.capacity().is_zero());
}

TEST(CapacityFinder, ALateMachineHasSeenNoQueue) {
  CapacityFinder finder(kNoCeiling);
  Instant now = Instant() + Duration::seconds(1);
  finder.on_start({kRtt, ByteCount(1500), now});
  const BitRate before = finder.sustained_rate();
  for (int i = 0; i < 40; ++i) {
    finder.on_sent(Purpose::kNewData, ByteCount(1500), now);
    FeedbackSample sample;
    sample.number = static_cast<std::uint64_t>(i);
    sample.sent = now;
    sample.lateness = Duration::milliseconds(10 * i);
    sample.arrived = now + Duration::milliseconds(275) + sample.lateness;
    sample.received = ByteCount(1500U * static_cast<unsigned>(i));
    sample.now = now + kRtt;
    finder.on_feedback(sample);
    now += Duration::milliseconds(25);
  }
  EXPECT_EQ(finder.state(), State::kStarting);
  EXPECT_EQ(finder.sustained_rate(), before);
}

// A sender with little to send gets few reports, and each lost packet is a large share of what it
// sent.
TEST(CapacityFinder, WhoHasLittleToSendLearnsNothingOfItsLoss) {
  CapacityFinder finder(kNoCeiling);
  Instant now = Instant() + Duration::seconds(1);
  finder.on_start({kRtt, ByteCount(1500), now});
  FeedbackSample sample;
  sample.rtt = kRtt;
  sample.interval = Duration::milliseconds(300);
  for (std::uint64_t i = 0; i < 60; ++i) {
    finder.on_sent(Purpose::kNewData, ByteCount(100), now);
    sample.number = i;
    sample.sent = now;
    sample.arrived = now + kRtt / 2;
    sample.packets_lost = i % 3 == 2 ? 1 : 0;
    sample.packets_delivered = 1 - sample.packets_lost;
    sample.received += ByteCount(100 * sample.packets_delivered);
    sample.now = now += kRtt;
    finder.on_feedback(sample);
  }
  EXPECT_EQ(finder.state(), State::kStarting);
  EXPECT_GT(finder.sustained_rate(), BitRate::bits_per_second(300'000));
}

// A machine that is always late is the bottleneck itself, so the finder ignores its lateness after
// a while.
TEST(CapacityFinder, WhoIsAlwaysLateIsBelievedForAWhileOnly) {
  for (const int lateness : {20, 1000}) {
    CapacityFinder finder(kNoCeiling);
    ModelLink link;
    link.loss = 0.01;
    Model model(finder, link);
    model.amend = [&](FeedbackSample& sample) {
      sample.lateness = Duration::milliseconds(lateness);
    };
    BitRate most;
    for (int i = 0; i < 300; ++i) {
      model.run(Duration::milliseconds(100));
      most = std::max(most, finder.sustained_rate());
    }
    std::printf("  always %d ms late: found %.2f, up to %.2f of 10\n", lateness,
                megabits(finder.capacity()), megabits(most));
    EXPECT_LT(most, megabit(12)) << lateness;
    EXPECT_GT(finder.capacity(), megabit(9)) << lateness;
  }
}

}  // namespace
}  // namespace satrelay::control::test::capacity_finder_test
