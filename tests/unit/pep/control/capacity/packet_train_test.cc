#include "pep/control/capacity/packet_train.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace satrelay::control::test::packet_train_test {
namespace {

constexpr std::uint64_t kPacket = 1500;
constexpr Duration kDelay = Duration::milliseconds(275);

constexpr BitRate megabit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }

// Packets are sent over a link that serves them one after another at its rate.
class Path {
 public:
  explicit Path(BitRate rate) : link_rate(rate) {}
  BitRate link_rate;
  Duration delay = kDelay;
  Instant now = Instant() + Duration::seconds(1);

  void send(PacketTrain& train, Duration gap, bool lost = false) {
    now += gap;
    train.on_sent(samples_.size(), ByteCount(kPacket), now);
    busy_ = later(busy_, now) + link_rate.time_for(ByteCount(kPacket));
    if (!lost) received_ += ByteCount(kPacket);
    FeedbackSample sample;
    sample.number = samples_.size();
    sample.sent = now;
    sample.arrived = busy_ + delay;
    sample.received = received_;
    samples_.push_back(sample);
  }
  // A report with packet `number` as its newest.
  std::optional<PacketTrain::Finding> report(PacketTrain& train, std::size_t number) {
    FeedbackSample sample = samples_[number];
    sample.now = now + Duration::milliseconds(600);
    return train.on_feedback(sample, 0);
  }
  std::uint64_t count() const { return samples_.size(); }

 private:
  std::vector<FeedbackSample> samples_;
  Instant busy_;
  ByteCount received_;
};

// Sends one packet, a train of 20, and one packet after the rest. Other traffic changes the delay
// of the last packet by `more`. `lost` tells which packets of the train are lost.
template <typename Lost>
PacketTrain::Finding measure(Path& path, PacketTrain& train, Lost&& lost, Duration more = {}) {
  path.send(train, Duration::milliseconds(10));
  EXPECT_FALSE(path.report(train, path.count() - 1));
  train.order({.speed = megabit(100),
               .length = ByteCount(20 * kPacket),
               .mean = BitRate::bits_per_second(8'000'000)});
  path.now += Duration::milliseconds(20);
  for (int i = 0; i < 20; ++i) path.send(train, Duration::microseconds(100), lost(i));
  EXPECT_EQ(train.state(), PacketTrain::State::kResting);
  const std::uint64_t last = path.count() - 1;
  path.delay = path.delay + more;
  path.send(train, Duration::milliseconds(30));
  EXPECT_FALSE(path.report(train, last));
  const auto finding = path.report(train, last + 1);
  EXPECT_TRUE(finding);
  return finding.value_or(PacketTrain::Finding{});
}

TEST(PacketTrain, ShowsWhatTheLinkCarries) {
  for (const std::uint64_t rate : {1, 8, 20, 60}) {
    PacketTrain train;
    Path path(megabit(rate));
    const auto finding = measure(path, train, [](int) { return false; });
    EXPECT_NEAR(static_cast<double>(finding.rate.to_bits_per_second()) / 1e6,
                static_cast<double>(rate), static_cast<double>(rate) * 0.02);
    EXPECT_TRUE(finding.exact);
  }
}

// If other senders fill or leave the queue meanwhile, the delay after the train differs from that
// before it. Then their packets look the same as a slower link.
TEST(PacketTrain, WhereOthersChangeTheQueueMeanwhileItIsNotSteady) {
  const auto none = [](int) { return false; };
  for (const int change : {-8, 0, 1, 8}) {
    PacketTrain train;
    Path path(megabit(20));
    path.delay = kDelay + Duration::milliseconds(20);
    const auto finding = measure(path, train, none, Duration::milliseconds(change));
    EXPECT_EQ(finding.steady, change == 0 || change == 1) << change;
  }
}

TEST(PacketTrain, ALinkThatIsFasterIsSeenToBeAtLeastAsFast) {
  PacketTrain train;
  Path path(megabit(1000));
  const auto finding = measure(path, train, [](int) { return false; });
  EXPECT_EQ(finding.rate, megabit(100));
  EXPECT_FALSE(finding.exact);
}

TEST(PacketTrain, RestsUntilNoMoreHasLeftThanWithoutIt) {
  PacketTrain train;
  Path path(megabit(20));
  measure(path, train, [](int) { return false; });
  EXPECT_EQ(train.rests_until() - train.began(), Duration::milliseconds(30));
}

TEST(PacketTrain, ChanceLossHasNoPart) {
  PacketTrain train;
  Path path(megabit(20));
  // A loss of four in twenty happens now and then where 5% are lost.
  const auto finding = measure(path, train, [](int i) { return i % 5 == 2; });
  EXPECT_NEAR(static_cast<double>(finding.rate.to_bits_per_second()) / 1e6, 20, 0.5);
  EXPECT_FALSE(finding.unusual_loss);
}

// A full queue adds no more delay. It drops half of the train, so the train shows half of its
// speed.
TEST(PacketTrain, WhatAFullQueueDropsCountsAsNotSent) {
  PacketTrain train;
  Path path(megabit(1000));
  const auto finding = measure(path, train, [](int i) { return i % 2 == 0; });
  EXPECT_TRUE(finding.unusual_loss);
  EXPECT_LT(finding.rate, megabit(70));
}

TEST(PacketTrain, APathThatBecomesShorterIsNoFasterLink) {
  PacketTrain train;
  Path path(megabit(20));
  path.send(train, Duration::milliseconds(10));
  path.report(train, 0);
  path.delay = kDelay - Duration::milliseconds(15);
  // measure() begins with a packet of the new delay. Two packets of the old delay outvote it.
  path.report(train, 0);
  const auto finding = measure(path, train, [](int) { return false; });
  EXPECT_LT(finding.rate, megabit(21));
}

TEST(PacketTrain, TheFirstPacketsOfASessionMayBeOne) {
  PacketTrain train;
  Path path(megabit(20));
  train.order({.speed = megabit(100), .length = ByteCount(16 * kPacket), .mean = megabit(1)});
  for (int i = 0; i < 16; ++i) path.send(train, Duration::microseconds(100));
  EXPECT_FALSE(path.report(train, 15));
  path.send(train, Duration::milliseconds(200));
  const auto finding = path.report(train, 16);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(static_cast<double>(finding->rate.to_bits_per_second()) / 1e6, 20, 0.5);
}

TEST(PacketTrain, HostsThatHaveNoMoreMakeNone) {
  PacketTrain train;
  Path path(megabit(20));
  path.send(train, Duration::milliseconds(10));
  path.report(train, 0);
  train.order({.speed = megabit(100), .length = ByteCount(20 * kPacket), .mean = megabit(8)});
  for (int i = 0; i < 3; ++i) path.send(train, Duration::milliseconds(20));
  EXPECT_EQ(train.state(), PacketTrain::State::kAwaited);
  const auto finding = path.report(train, path.count() - 1);
  ASSERT_TRUE(finding);
  EXPECT_TRUE(finding->rate.is_zero());
  EXPECT_EQ(train.state(), PacketTrain::State::kIdle);
}

TEST(PacketTrain, OneBehindWhichNothingFollowsIsGivenUp) {
  PacketTrain train;
  Path path(megabit(20));
  path.send(train, Duration::milliseconds(10));
  path.report(train, 0);
  train.order({.speed = megabit(100), .length = ByteCount(20 * kPacket), .mean = megabit(8)});
  for (int i = 0; i < 20; ++i) path.send(train, Duration::microseconds(100));
  FeedbackSample first;
  first.number = 1;
  first.now = path.now + Duration::seconds(2);
  EXPECT_FALSE(train.on_feedback(first, 0));
  first.now = path.now + Duration::seconds(4);
  EXPECT_TRUE(train.on_feedback(first, 0));
}

}  // namespace
}  // namespace satrelay::control::test::packet_train_test
