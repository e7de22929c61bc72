// Gateways that cannot agree: a wrong address, one address twice, another version of STP. TCP works
// on, bridged, and the status says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/stp/wire/crc32c.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"
#include "relay/ops/events/watch.h"
#include "tests/sim/stations.h"

namespace satrelay::sim::misconfiguration_test {
namespace {

using gateway::Counter;
using gateway::PortId;

class Misconfiguration : public ::testing::Test {
 protected:
  gateway::Gateway& engine(std::size_t at) { return stations.gateway(at).engine(); }
  gateway::PeerSnapshot peer(std::size_t at) { return engine(at).peers().at(0); }
  std::uint64_t counted(std::size_t at, Counter counter) { return engine(at).counters()[counter]; }
  void run_for(Duration time) { stations.loop().run_until(stations.now() + time); }
  // Shows gateway `at` to the watch that raises events for the operator.
  void look(std::size_t at) {
    ops::Snapshot snapshot;
    snapshot.status = engine(at).status(stations.now());
    snapshot.peers = engine(at).peers();
    snapshot.counters = engine(at).counters();
    watch.look(snapshot, records::RecordsReport(), Duration::zero(), stations.now());
  }
  // Opens a connection from station 0 to `server`; true if it was complete.
  bool transfers_to(SimHost& server) {
    const Transfer& transfer =
        stations.transfer(stations.host(0), server, IpVersion::kV4, 10'000, 10'000);
    stations.loop().run_until(stations.now() + Duration::seconds(20),
                              [&] { return transfer.client.ended && transfer.server.ended; });
    return transfer.client.saw_end && transfer.server.saw_end;
  }
  Stations stations;
  std::vector<std::string> told;
  ops::Watch watch{
      [this](const ops::Event& event) { told.emplace_back(ops::describe(event.kind).name); }};
};

TEST_F(Misconfiguration, AnAddressThatNobodyHas) {
  stations.add(station(0, {1}));
  StationSpec wrong = station(1, {0});
  wrong.gateway.peers[0].address = IpAddress::v4({192, 0, 2, 9});
  stations.add(wrong);
  stations.start();
  run_for(Duration::seconds(10));
  EXPECT_EQ(peer(1).state, stp::PeerState::kConnecting);
  EXPECT_FALSE(peer(1).resolved);
  EXPECT_EQ(peer(0).state, stp::PeerState::kConnecting);
  EXPECT_TRUE(peer(0).resolved);
  EXPECT_GT(counted(1, Counter::kDroppedStpUnknownPeer), 0U) << "it hears from a stranger";
  EXPECT_TRUE(transfers_to(stations.host(1)));
  EXPECT_EQ(counted(0, Counter::kBridgedPeerDown), 1U);
  EXPECT_EQ(counted(0, Counter::kFlowsAccepted), 0U);
}

TEST_F(Misconfiguration, TheAddressOfAnotherGateway) {
  stations.add(station(0, {1}));
  StationSpec wrong = station(1, {0});
  wrong.gateway.peers[0].address = wan_address(2);
  stations.add(wrong);
  stations.add(station(2, {0}));
  stations.start();
  run_for(Duration::seconds(10));
  EXPECT_EQ(peer(1).state, stp::PeerState::kConnecting);
  EXPECT_TRUE(peer(1).resolved);
  EXPECT_GT(counted(2, Counter::kDroppedStpUnknownPeer), 0U);
  EXPECT_TRUE(transfers_to(stations.host(1)));
  EXPECT_EQ(counted(0, Counter::kBridgedPeerDown), 1U);
}

// Two stations have one gateway address. Their peer follows the station that was started last.
TEST_F(Misconfiguration, OneAddressTwice) {
  StationSpec hub = station(0, {1});
  hub.gateway.peers[0].prefixes.clear();
  hub.gateway.peers[0].prefixes.push_back(*IpPrefix::parse("10.0.0.0/8"));
  stations.add(hub);
  stations.add(station(1, {0}));
  StationSpec twin = station(2, {0});
  twin.gateway.gateway.own = wan_address(1);
  stations.add(twin);
  stations.start();
  const Instant began = stations.now();
  stations.loop().run_until(began + Duration::seconds(60), [&] {
    return counted(1, Counter::kAddressConflicts) > 0 && counted(2, Counter::kAddressConflicts) > 0;
  });
  std::printf("  both have noticed after %.2f s\n", (stations.now() - began).to_seconds());
  EXPECT_LT(stations.now() - began, Duration::seconds(2));
  run_for(Duration::seconds(60));
  // The peer trusts one of them, and treats the other's packets as stale. The WAN's switch delivers
  // frames for either to the station from which it has learned the MAC last.
  const auto alive = [&](std::size_t at) { return peer(at).state == stp::PeerState::kAlive; };
  EXPECT_FALSE(alive(1) && alive(2));
  EXPECT_GT(peer(0).counters.stale_epoch, 0U);
  EXPECT_EQ(counted(0, Counter::kAddressConflicts), 0U);
}

// Makes the gateway of station 1 speak another version of STP: it rewrites what HELLO offers.
class OtherVersion final : public FrameSink {
 public:
  explicit OtherVersion(Stations& stations) : stations_(&stations) {
    stations.gateway(1).connect(PortId::kWan, *this, 0);
  }
  void receive(unsigned, FrameHandle frame) override {
    if (speaks_other) rewrite(frame);
    stations_->link(1).receive(SatelliteLink::kA, frame);
  }
  bool speaks_other = true;

 private:
  static constexpr std::size_t kStpAt =
      wire::kEthernetHeaderSize + wire::kIpv4HeaderSize + wire::kUdpHeaderSize;
  void rewrite(FrameHandle frame) {
    const std::size_t size = stations_->frames().bytes(frame).size();
    const MutableBytes bytes = stations_->frames().room(frame).first(size);
    constexpr std::size_t kVersionsAt = kStpAt + 8 + 3;
    constexpr std::byte kHello{0x09};
    constexpr std::byte kHelloPacket{0x08};
    if (size < kVersionsAt + 6 || bytes[23] != std::byte{wire::kProtocolUdp} ||
        (bytes[kStpAt] & kHelloPacket) == std::byte{0} || bytes[kStpAt + 8] != kHello) {
      return;
    }
    bytes[kVersionsAt] = bytes[kVersionsAt + 1] = std::byte{2};
    const MutableBytes packet = bytes.subspan(kStpAt, size - kStpAt - 4);
    store_u32(&bytes[size - 4], stp::crc32c_finish(stp::crc32c_update(stp::kCrc32cStart, packet)));
  }
  Stations* stations_;
};

TEST_F(Misconfiguration, AnotherVersionIsRefusedUntilItIsCorrected) {
  for (const std::size_t i : {0U, 1U}) stations.add(station(i, {1 - i}));
  OtherVersion other(stations);
  stations.start();
  const Instant began = stations.now();
  stations.loop().run_until(began + Duration::seconds(10),
                            [&] { return peer(0).state == stp::PeerState::kRefused; });
  std::printf("  refused after %.2f s\n", (stations.now() - began).to_seconds());
  EXPECT_LT(stations.now() - began, Duration::seconds(2));
  EXPECT_GT(peer(0).counters.version_mismatch, 0U);
  look(0);
  EXPECT_EQ(told, std::vector<std::string>{"peer_other_version"});
  EXPECT_TRUE(transfers_to(stations.host(1)));
  EXPECT_EQ(counted(0, Counter::kBridgedPeerDown), 1U);
  other.speaks_other = false;
  const Instant corrected = stations.now();
  EXPECT_TRUE(stations.run_until_alive(Duration::seconds(10)));
  std::printf("  alive %.2f s after it was corrected\n", (stations.now() - corrected).to_seconds());
  EXPECT_LT(stations.now() - corrected, Duration::seconds(3));
  look(0);
  EXPECT_EQ(told, (std::vector<std::string>{"peer_other_version", "peer_alive"}));
  EXPECT_TRUE(transfers_to(stations.host(1)));
  EXPECT_EQ(counted(0, Counter::kFlowsEstablished), 1U);
}

}  // namespace
}  // namespace satrelay::sim::misconfiguration_test
