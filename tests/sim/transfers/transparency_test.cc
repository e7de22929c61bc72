// How hosts see gateways with different LANs and links: MTUs, routes between them, peers by prefix.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/stations.h"

namespace satrelay::sim::transparency_test {
namespace {

using gateway::Counter;

// --- MTU ---------------------------------------------------------------------------------------

struct Mtus {
  std::uint16_t lan[2];
  std::uint16_t wan;
};

class LanMtu : public ::testing::Test {
 protected:
  void build(const Mtus& mtus) {
    stations = std::make_unique<Stations>();
    for (std::size_t i : {0U, 1U}) {
      StationSpec spec = station(i, {1 - i});
      spec.gateway.lan.mtu = mtus.lan[i];
      spec.gateway.wan.mtu = spec.gateway.stp.mtu = mtus.wan;
      spec.hosts = {host_of(i, 10, mtus.lan[i])};
      stations->add(spec);
    }
    stations->start();
    ASSERT_TRUE(stations->run_until_alive(Duration::seconds(10)));
  }
  void expect_complete() {
    EXPECT_TRUE(stations->run_until_over(Duration::seconds(120)));
    for (const std::string& line : stations->diagnostics()) ADD_FAILURE() << line;
  }
  std::unique_ptr<Stations> stations;
};

TEST_F(LanMtu, MayDifferOnEitherSideAndFromTheLink) {
  const Mtus kCases[] = {{{576, 9000}, 1500},  {{9000, 576}, 1500},  {{9000, 1280}, 9000},
                         {{1500, 9000}, 9000}, {{9000, 9000}, 1280}, {{576, 1400}, 576}};
  for (const Mtus& mtus : kCases) {
    SCOPED_TRACE(std::to_string(mtus.lan[0]) + " " + std::to_string(mtus.lan[1]) + " link " +
                 std::to_string(mtus.wan));
    for (const IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
      if (version == IpVersion::kV6 && std::min(mtus.lan[0], mtus.lan[1]) < 1280) continue;
      build(mtus);
      stations->transfer(stations->host(0), stations->host(1), version, 1'000'000, 1'000'000);
      stations->transfer(stations->host(1), stations->host(0), version, 1'000'000, 1'000'000);
      expect_complete();
      for (std::size_t i : {0U, 1U}) {
        // No packet is too long for the LAN. The longest are full, unless the link brings less at a
        // time.
        EXPECT_LE(stations->tap(i).longest(), mtus.lan[i]);
        EXPECT_GT(stations->tap(i).longest() + 100, std::min(mtus.lan[i], mtus.wan));
        EXPECT_EQ(stations->gateway(i).engine().counters()[Counter::kFlowsFromPeer], 1U);
      }
    }
  }
}

TEST_F(LanMtu, ARouterInTheLanThatCarriesLessIsObeyed) {
  for (const IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
    build({{1500, 1500}, 1500});
    const OwnAddresses router = host_of(1, 1).addresses;
    stations->tap(1).narrow_to(1300, router.v4, router.v6);
    // Transfers to a server and to a client behind that router.
    stations->transfer(stations->host(0), stations->host(1), version, 1'000'000, 0);
    stations->transfer(stations->host(1), stations->host(0), version, 0, 1'000'000);
    expect_complete();
    EXPECT_EQ(stations->tap(1).longest(), 1300U);
    // The router refuses no more than the first flight of each flow, and none after its message.
    EXPECT_GT(stations->tap(1).refused(), 0U);
    EXPECT_LE(stations->tap(1).refused(), 2 * 20U);
    const auto& engine = stations->gateway(1).engine();
    EXPECT_EQ(engine.status(stations->now()).tcp.path_mtu_reductions, 2U);
    EXPECT_EQ(engine.counters()[Counter::kDroppedIcmpForRelayed], stations->tap(1).refused());
  }
}

// --- several peers -----------------------------------------------------------------------------

// A hub with 20 Mbit/s to and from the first terminal, and 5 Mbit/s to and from the second.
class Hub : public ::testing::Test {
 protected:
  Hub() {
    StationSpec hub = station(0, {});
    hub.gateway.links = {link_of("one", 20'000'000, 20'000'000),
                         link_of("two", 5'000'000, 5'000'000)};
    hub.gateway.peers = {peer_of("one", wan_address(1), 1, "one"),
                         peer_of("two", wan_address(2), 2, "two")};
    hub.up = hub.down = satellite(25'000'000);
    hub.hosts = {host_of(0, 10), host_of(0, 11)};
    stations.add(hub);
    StationSpec one = station(1, {0});
    stations.add(one);
    StationSpec two = station(2, {0});
    two.gateway.links = {link_of("sat", 5'000'000, 5'000'000)};
    two.up = two.down = satellite(5'000'000);
    stations.add(two);
    stations.start();
  }
  std::uint64_t counted(std::size_t at, Counter counter) {
    return stations.gateway(at).engine().counters()[counter];
  }
  Stations stations;
};

TEST_F(Hub, SendsEachFlowToThePeerOfItsPrefix) {
  ASSERT_TRUE(stations.run_until_alive(Duration::seconds(10)));
  for (const IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
    stations.transfer(stations.host(0), stations.host(1), version, 100'000, 300'000);
    stations.transfer(stations.host(0), stations.host(2), version, 100'000, 300'000);
    stations.transfer(stations.host(1), stations.host(0, 1), version, 100'000, 300'000);
    stations.transfer(stations.host(2), stations.host(0, 1), version, 100'000, 300'000);
  }
  EXPECT_TRUE(stations.run_until_over(Duration::seconds(60)));
  for (const std::string& line : stations.diagnostics()) ADD_FAILURE() << line;
  EXPECT_EQ(counted(0, Counter::kFlowsEstablished), 4U);
  EXPECT_EQ(counted(0, Counter::kFlowsFromPeer), 4U);
  for (const std::size_t terminal : {1U, 2U}) {
    EXPECT_EQ(counted(terminal, Counter::kFlowsEstablished), 2U);
    EXPECT_EQ(counted(terminal, Counter::kFlowsFromPeer), 2U);
  }
  const auto peers = stations.gateway(0).engine().peers();
  ASSERT_EQ(peers.size(), 2U);
  EXPECT_EQ(peers[0].name, "one");
  // Two flows, and the list of the sources that the hub accepts.
  EXPECT_EQ(peers[0].counters.streams_opened, 3U);
  EXPECT_EQ(peers[1].counters.streams_opened, 3U);
}

TEST_F(Hub, KeepsTheRateOfEachPeersOwnCarrier) {
  ASSERT_TRUE(stations.run_until_alive(Duration::seconds(10)));
  const Instant began = stations.now();
  const Transfer& fast =
      stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 10'000'000, 0);
  const Transfer& slow =
      stations.transfer(stations.host(0), stations.host(2), IpVersion::kV4, 2'500'000, 0);
  ASSERT_TRUE(stations.run_until_over(Duration::seconds(60)));
  for (const std::string& line : stations.diagnostics()) ADD_FAILURE() << line;
  // Each takes 4 s at its own rate, without headers, and about a round trip. Neither waits for the
  // other, and the terminal's slow link drops nothing.
  for (const Transfer* transfer : {&fast, &slow}) {
    const double seconds = (transfer->server.saw_end_at - began).to_seconds();
    EXPECT_GT(seconds, 4.0);
    EXPECT_LT(seconds, 5.2);
  }
  EXPECT_EQ(stations.link(2).from_b().counters().dropped_queue, 0U);
  EXPECT_EQ(stations.gateway(0).engine().peers()[1].counters.packets_lost, 0U);
}

TEST_F(Hub, OneTerminalIsLostAndTheOtherDoesNotNotice) {
  ASSERT_TRUE(stations.run_until_alive(Duration::seconds(10)));
  stations.gateway(2).kill();
  stations.loop().run_until(stations.now() + Duration::seconds(5));
  const auto peers = stations.gateway(0).engine().peers();
  EXPECT_EQ(peers[0].state, stp::PeerState::kAlive);
  EXPECT_EQ(peers[1].state, stp::PeerState::kSuspect);
  stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 100'000, 300'000);
  EXPECT_TRUE(stations.run_until_over(Duration::seconds(60)));
  for (const std::string& line : stations.diagnostics()) ADD_FAILURE() << line;
  stations.transfer(stations.host(0), stations.host(2), IpVersion::kV4, 10, 10);
  stations.loop().run_until(stations.now() + Duration::seconds(1));
  EXPECT_GE(counted(0, Counter::kBridgedPeerDown), 1U);
}

TEST_F(Hub, TerminalsReachEachOtherUnrelayed) {
  ASSERT_TRUE(stations.run_until_alive(Duration::seconds(10)));
  stations.transfer(stations.host(1), stations.host(2), IpVersion::kV4, 10'000, 10'000);
  EXPECT_TRUE(stations.run_until_over(Duration::seconds(60)));
  for (const std::string& line : stations.diagnostics()) ADD_FAILURE() << line;
  EXPECT_GT(counted(1, Counter::kBridgedNoPeerPrefix), 0U);
}

// --- routed segments ---------------------------------------------------------------------------

// Two stations in subnets of their own, with a router between them. Hosts send to the router's MAC,
// and know no MAC of the other LAN.
class Routed : public ::testing::Test {
 protected:
  Routed() : stations(true) {
    for (const std::size_t i : {0U, 1U}) {
      StationSpec spec = station(i, {});
      const auto subnet = [](std::size_t at, std::uint8_t last) {
        return IpAddress::v4({172, 16, static_cast<std::uint8_t>(at), last});
      };
      spec.gateway.gateway.own = subnet(i, 2);
      spec.gateway.gateway.address = {subnet(i, 0), 24};
      spec.gateway.gateway.next_hop = subnet(i, 1);
      spec.gateway.peers = {peer_of("far", subnet(1 - i, 2), 1 - i, "sat")};
      spec.gateway.limits.idle_timeout = Duration::seconds(600);
      spec.hosts = {host_of(i, 10), host_of(i, 11)};
      stations.add(spec);
    }
    stations.start();
  }
  std::uint64_t counted(std::size_t at, Counter counter) {
    return stations.gateway(at).engine().counters()[counter];
  }
  Stations stations;
};

TEST_F(Routed, AHostThatWasNeverHeardIsAskedFor) {
  ASSERT_TRUE(stations.run_until_alive(Duration::seconds(10)));
  for (const IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
    const Instant began = stations.now();
    const Transfer& first =
        stations.transfer(stations.host(0), stations.host(1), version, 1'000, 1'000);
    ASSERT_TRUE(stations.run_until_over(Duration::seconds(60)));
    // The question takes no more than a round trip of the LAN.
    EXPECT_LT(first.server.started_at - began, Duration::milliseconds(285));
  }
  stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 300'000, 300'000);
  stations.transfer(stations.host(1), stations.host(0), IpVersion::kV6, 300'000, 300'000);
  stations.transfer(stations.host(1), stations.host(0, 1), IpVersion::kV4, 300'000, 300'000);
  EXPECT_TRUE(stations.run_until_over(Duration::seconds(60)));
  for (const std::string& line : stations.diagnostics()) ADD_FAILURE() << line;
  EXPECT_EQ(counted(0, Counter::kFlowsEstablished), 3U);
  EXPECT_EQ(counted(1, Counter::kFlowsEstablished), 2U);
  EXPECT_EQ(counted(0, Counter::kFlowsUnreachable) + counted(1, Counter::kFlowsUnreachable), 0U);
}

TEST_F(Routed, AHostThatIsNotThereIsGivenUpInTime) {
  ASSERT_TRUE(stations.run_until_alive(Duration::seconds(10)));
  const Instant began = stations.now();
  SimHost& gone = stations.host(1, 1);
  gone.vanish();
  const Transfer& transfer = stations.transfer(stations.host(0), gone, IpVersion::kV4, 1'000, 0);
  stations.loop().run_until(began + Duration::seconds(10),
                            [&] { return transfer.client.was_reset(); });
  EXPECT_TRUE(transfer.client.was_reset());
  EXPECT_NEAR((stations.now() - began).to_seconds(), 3.6, 0.1);
  EXPECT_EQ(counted(1, Counter::kFlowsUnreachable), 1U);
  stations.loop().run_until(stations.now() + Duration::seconds(1));
  EXPECT_EQ(stations.gateway(1).engine().flow_count(), 0U);
}

}  // namespace
}  // namespace satrelay::sim::transparency_test
