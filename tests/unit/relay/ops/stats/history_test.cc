#include "relay/ops/stats/history.h"

#include <gtest/gtest.h>

#include <cmath>

#include "relay/gateway/uplink/class_counters.h"

namespace satrelay::ops::history_test {
namespace {

constexpr std::size_t kAll = 1'000;

// A gateway with two peers on a link, and a class. Each test sets their counters.
class HistoryTest : public testing::Test {
 protected:
  HistoryTest() {
    snapshot_.ports.resize(2);
    snapshot_.ports[0].name = "lan";
    snapshot_.ports[1].name = "wan";
    snapshot_.peers.resize(2);
    const char* const names[] = {"north", "south"};
    for (std::size_t i = 0; i < 2; ++i) {
      snapshot_.peers[i].name = names[i];
      snapshot_.peers[i].link = "sat";
      snapshot_.peers[i].state = stp::PeerState::kAlive;
    }
    classes_.resize(1);
    classes_[0].in_force.name = "voice";
    snapshot_.histograms = {
        {&gateway::kRelayedWait, "voice", Histogram(gateway::kRelayedWait.bounds)}};
  }
  void add() {
    history_.add(snapshot_, classes_, Instant() + Duration::seconds(10 * time_),
                 static_cast<std::uint64_t>(1'000'000 + 10'000 * time_));
    ++time_;
  }
  HistoryPoint latest(HistoryOf of, std::string_view name = "") const {
    const auto points = history_.points(of, name, 0, 1);
    return points.empty() ? HistoryPoint{} : points[0];
  }
  std::size_t count(HistoryOf of, std::string_view name = "") const {
    return history_.points(of, name, 0, kAll).size();
  }

  Snapshot snapshot_;
  std::vector<gateway::ClassSnapshot> classes_;
  History history_;
  std::int64_t time_ = 0;
};

TEST_F(HistoryTest, APointIsWhatHasChangedSinceTheOneBefore) {
  add();
  EXPECT_EQ(count(HistoryOf::kGateway), 1U);
  EXPECT_TRUE(std::isnan(latest(HistoryOf::kGateway).send_bps)) << "since when, nobody knows";
  snapshot_.ports[1].stats.tx_bytes = 2'000'000;
  snapshot_.ports[1].stats.rx_bytes = 1'000'000;
  snapshot_.status.codec = {.plain_bytes = 1'000, .encoded_bytes = 250};
  snapshot_.peers[0].counters.packets_out = 100;
  snapshot_.peers[1].counters.packets_out = 300;
  snapshot_.peers[1].counters.packets_lost = 4;
  snapshot_.peers[0].rtt = Duration::milliseconds(500);
  snapshot_.peers[1].rtt = Duration::milliseconds(600);
  classes_[0].held_bytes = 70;
  classes_[0].waiting_bytes = 7;
  snapshot_.histograms[0].values.add(10'000, 2);
  add();
  const HistoryPoint point = latest(HistoryOf::kGateway);
  EXPECT_EQ(point.time_ms, 1'010'000U);
  EXPECT_FLOAT_EQ(point.send_bps, 1'600'000);
  EXPECT_FLOAT_EQ(point.receive_bps, 800'000);
  EXPECT_FLOAT_EQ(point.loss_ratio, 0.01F);
  EXPECT_FLOAT_EQ(point.rtt_seconds, 0.6F) << "the longest";
  EXPECT_FLOAT_EQ(point.queued_bytes, 77);
  EXPECT_FLOAT_EQ(point.wait_seconds, 0.01F);
  EXPECT_FLOAT_EQ(point.encoded_ratio, 0.25F);
  EXPECT_FLOAT_EQ(latest(HistoryOf::kLink, "sat").loss_ratio, 0.01F);
  EXPECT_FLOAT_EQ(latest(HistoryOf::kPeer, "north").loss_ratio, 0);
  add();
  EXPECT_FLOAT_EQ(latest(HistoryOf::kGateway).send_bps, 0);
  EXPECT_TRUE(std::isnan(latest(HistoryOf::kGateway).encoded_ratio)) << "nothing was encoded";
  EXPECT_TRUE(std::isnan(latest(HistoryOf::kGateway).wait_seconds));
}

TEST_F(HistoryTest, PeersOfALinkAddUp) {
  add();
  snapshot_.peers[0].counters.bytes_out = 1'250;
  snapshot_.peers[1].counters.bytes_out = 2'500;
  snapshot_.peers[1].counters.bytes_in = 5'000;
  add();
  EXPECT_FLOAT_EQ(latest(HistoryOf::kPeer, "north").send_bps, 1'000);
  EXPECT_FLOAT_EQ(latest(HistoryOf::kPeer, "south").send_bps, 2'000);
  EXPECT_FLOAT_EQ(latest(HistoryOf::kLink, "sat").send_bps, 3'000);
  EXPECT_FLOAT_EQ(latest(HistoryOf::kLink, "sat").receive_bps, 4'000);
  EXPECT_TRUE(std::isnan(latest(HistoryOf::kPeer, "south").queued_bytes))
      << "it has no such figure";
}

TEST_F(HistoryTest, AClassHasWhatIsSentAndWaitsInIt) {
  add();
  classes_[0].use.relayed_bytes = 1'000;
  classes_[0].use.bridged_bytes = 250;
  classes_[0].held_bytes = 9;
  classes_[0].waiting_bytes = 4;
  classes_[0].use.plain_bytes = 2'000;
  classes_[0].use.encoded_bytes = 500;
  snapshot_.histograms[0].values.add(2'000);
  add();
  const HistoryPoint point = latest(HistoryOf::kClass, "voice");
  EXPECT_FLOAT_EQ(point.send_bps, 1'000);
  EXPECT_FLOAT_EQ(point.queued_bytes, 13);
  EXPECT_FLOAT_EQ(point.encoded_ratio, 0.25F);
  EXPECT_FLOAT_EQ(point.wait_seconds, 0.002F);
  EXPECT_TRUE(std::isnan(point.receive_bps));
}

TEST_F(HistoryTest, APeerThatIsSilentHasNoRoundTrip) {
  snapshot_.peers[0].rtt = Duration::milliseconds(500);
  snapshot_.peers[0].state = stp::PeerState::kSuspect;
  add();
  add();
  EXPECT_TRUE(std::isnan(latest(HistoryOf::kPeer, "north").rtt_seconds));
}

TEST_F(HistoryTest, CountersThatFallMakeNoPoint) {
  snapshot_.ports[1].stats.tx_bytes = 500;
  add();
  snapshot_.ports[1].stats.tx_bytes = 400;
  add();
  EXPECT_TRUE(std::isnan(latest(HistoryOf::kGateway).send_bps));
}

TEST_F(HistoryTest, WithoutAnAnswerOfTheWorkerClassesHaveAGap) {
  add();
  const auto classes = std::exchange(classes_, {});
  add();
  EXPECT_EQ(count(HistoryOf::kClass, "voice"), 2U);
  EXPECT_TRUE(std::isnan(latest(HistoryOf::kClass, "voice").send_bps));
  classes_ = classes;
  add();
  EXPECT_TRUE(std::isnan(latest(HistoryOf::kClass, "voice").send_bps)) << "of two steps";
  add();
  EXPECT_FLOAT_EQ(latest(HistoryOf::kClass, "voice").send_bps, 0);
}

TEST_F(HistoryTest, AnHourIsKeptNewestFirst) {
  for (int i = 0; i < 500; ++i) add();
  const auto points = history_.points(HistoryOf::kGateway, "", 0, kAll);
  ASSERT_EQ(points.size(), 360U);
  EXPECT_EQ(points.front().time_ms, 1'000'000U + 499 * 10'000);
  EXPECT_EQ(points.back().time_ms, 1'000'000U + 140 * 10'000);
  EXPECT_EQ(history_.points(HistoryOf::kGateway, "", 350, 48).size(), 10U);
  EXPECT_TRUE(history_.points(HistoryOf::kGateway, "", 360, 48).empty());
}

TEST_F(HistoryTest, WhatIsGoneForAnHourIsForgottenAndWhatComesLaterBeginsThen) {
  add();
  gateway::PeerSnapshot north = snapshot_.peers[0];
  snapshot_.peers.erase(snapshot_.peers.begin());
  for (int i = 0; i < 359; ++i) add();
  EXPECT_GT(count(HistoryOf::kPeer, "north"), 0U);
  add();
  EXPECT_EQ(count(HistoryOf::kPeer, "north"), 0U);
  snapshot_.peers.push_back(north);
  add();
  add();
  EXPECT_EQ(count(HistoryOf::kPeer, "north"), 2U);
}

TEST_F(HistoryTest, IsBoundedHoweverManyPeersThereAre) {
  snapshot_.peers.assign(2'000, snapshot_.peers[0]);
  for (std::size_t i = 0; i < snapshot_.peers.size(); ++i) {
    snapshot_.peers[i].name = "peer-" + std::to_string(i);
  }
  add();
  std::size_t kept = 0;
  for (const auto& peer : snapshot_.peers) kept += count(HistoryOf::kPeer, peer.name);
  EXPECT_GT(kept, 500U);
  EXPECT_LT(kept, History::kMostSeries);
}

}  // namespace
}  // namespace satrelay::ops::history_test
