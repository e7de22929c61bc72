// The snapshots of several engines are added up to that of one gateway, with nothing counted twice.
#include "relay/gateway/snapshot_sum.h"

#include <gtest/gtest.h>

namespace satrelay::gateway::snapshot_sum_test {
namespace {

PeerSnapshot lane_of(const char* name, std::uint8_t lane, stp::PeerState state) {
  PeerSnapshot peer;
  peer.name = name;
  peer.lane = lane;
  peer.state = state;
  peer.resolved = true;
  peer.encrypts = true;
  peer.streams = 1;
  peer.send_rate = BitRate::bits_per_second(1'000);
  return peer;
}

std::vector<PeerSnapshot> joined(std::vector<PeerSnapshot> lanes) {
  std::vector<PeerSnapshot> peers;
  append_lanes(peers, std::move(lanes));
  return peers;
}

constexpr auto kAlive = stp::PeerState::kAlive;
constexpr auto kConnecting = stp::PeerState::kConnecting;

TEST(SnapshotSum, JoinsLanesOfOnePeer) {
  const auto peers = joined(
      {lane_of("north", 0, kAlive), lane_of("north", 2, kConnecting), lane_of("south", 0, kAlive)});
  ASSERT_EQ(peers.size(), 2U);
  EXPECT_EQ(peers[0].name, "north");
  EXPECT_EQ(peers[0].streams, 2U);
  EXPECT_EQ(peers[0].send_rate, BitRate::bits_per_second(1'000));
  EXPECT_EQ(peers[0].state, kConnecting) << "the lane that is worse off";
  EXPECT_EQ(peers[1].name, "south");
  EXPECT_EQ(peers[1].streams, 1U);
}

TEST(SnapshotSum, AddsThePeersOfAnotherWorkerByName) {
  auto sum = joined({lane_of("north", 0, kAlive), lane_of("south", 0, kAlive)});
  add_to(sum, joined({lane_of("north", 1, kAlive), lane_of("south", 1, kConnecting)}));
  ASSERT_EQ(sum.size(), 2U);
  EXPECT_EQ(sum[0].streams, 2U);
  EXPECT_EQ(sum[0].state, kAlive);
  EXPECT_EQ(sum[1].streams, 2U);
  EXPECT_EQ(sum[1].state, kConnecting);
}

TEST(SnapshotSum, TellsTheWorstOfWhatIsMeasured) {
  PeerSnapshot quick = lane_of("north", 0, kAlive), slow = lane_of("north", 1, kAlive);
  quick.rtt = Duration::milliseconds(500);
  slow.rtt = Duration::milliseconds(700);
  quick.path_mtu = 1500;
  slow.path_mtu = 1400;
  slow.loss_ratio = 0.01;
  slow.encrypts = false;
  const auto peers = joined({quick, slow});
  ASSERT_EQ(peers.size(), 1U);
  EXPECT_EQ(peers[0].rtt, Duration::milliseconds(700));
  EXPECT_EQ(peers[0].path_mtu, 1400);
  EXPECT_EQ(peers[0].loss_ratio, 0.01);
  EXPECT_FALSE(peers[0].encrypts);
}

TEST(SnapshotSum, AddsStatus) {
  Status sum{}, more{};
  sum.flows = 3;
  more.flows = 4;
  more.time_wait = 2;
  more.admission = Admission::kDraining;
  add_to(sum, more);
  EXPECT_EQ(sum.flows, 7U);
  EXPECT_EQ(sum.time_wait, 2U);
  EXPECT_EQ(sum.admission, Admission::kDraining);
}

TEST(SnapshotSum, ALinkIsOneForAllWorkers) {
  const auto link = [](std::uint64_t capacity, std::uint64_t sent) {
    LinkSnapshot snapshot;
    snapshot.name = "sat";
    snapshot.peers = 2;
    snapshot.send.configured = BitRate::bits_per_second(9'000);
    snapshot.send.capacity = BitRate::bits_per_second(capacity);
    snapshot.sent_bytes = sent;
    return snapshot;
  };
  std::vector<LinkSnapshot> sum = {link(7'000, 100)};
  add_to(sum, {link(8'000, 30)});
  EXPECT_EQ(sum[0].peers, 2U);
  EXPECT_EQ(sum[0].send.configured, BitRate::bits_per_second(9'000));
  EXPECT_EQ(sum[0].send.capacity, BitRate::bits_per_second(8'000));
  EXPECT_EQ(sum[0].sent_bytes, 130U);
}

TEST(SnapshotSum, AddsHistogramsOfTheSameThing) {
  const auto waits = [](const char* name, std::uint64_t us) {
    HistogramSnapshot snapshot{&kRelayedWait, name, Histogram(kRelayedWait.bounds)};
    snapshot.values.add(us);
    return snapshot;
  };
  std::vector<HistogramSnapshot> sum = {waits("voice", 10), waits("bulk", 20)};
  add_to(sum, {waits("bulk", 30), waits("new", 40)});
  ASSERT_EQ(sum.size(), 3U);
  EXPECT_EQ(sum[0].values.sum(), 10U);
  EXPECT_EQ(sum[1].values.sum(), 50U);
  EXPECT_EQ(sum[1].values.count(), 2U);
  EXPECT_EQ(sum[2].of, "new");
}

}  // namespace
}  // namespace satrelay::gateway::snapshot_sum_test
