// The two stations of the README. The hub knows one IPv4 prefix of the terminal's LAN. Hosts of
// that LAN with IPv6, or with an address of another subnet, fare as over a bridge.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/sim/stations.h"

namespace satrelay::sim::accepted_sources_test {
namespace {

using gateway::Counter;

constexpr std::size_t kHub = 0;
constexpr std::size_t kTerminal = 1;
constexpr int kTries = 5;

class AcceptedSources : public ::testing::Test {
 protected:
  AcceptedSources() {
    StationSpec hub = station(kHub, {kTerminal});
    hub.gateway.peers[0].prefixes.clear();
    hub.gateway.peers[0].prefixes.push_back(*IpPrefix::parse("10.1.0.0/24"));
    stations.add(hub);
    StationSpec terminal = station(kTerminal, {kHub});
    terminal.gateway.peers[0].prefixes.clear();
    terminal.gateway.peers[0].prefixes.push_back(*IpPrefix::parse("0.0.0.0/0"));
    terminal.gateway.peers[0].prefixes.push_back(*IpPrefix::parse("::/0"));
    HostSpec second_subnet = host_of(kTerminal, 11);
    second_subnet.addresses.v4 = *IpAddress::parse("172.16.0.11");
    terminal.hosts.push_back(second_subnet);
    stations.add(terminal);
    stations.start();
  }
  std::uint64_t counted(std::size_t at, Counter counter) {
    return stations.gateway(at).engine().counters()[counter];
  }
  // One connection after the other, as a host tries again.
  void connect(SimHost& client, SimHost& server, IpVersion version) {
    for (int i = 0; i < kTries; ++i) {
      stations.transfer(client, server, version, 10'000, 10'000);
      EXPECT_TRUE(stations.run_until_over(Duration::seconds(30)));
    }
  }
  Stations stations;
};

TEST_F(AcceptedSources, ADualStackLanIsRelayedOrBridgedAndNeverReset) {
  ASSERT_TRUE(stations.run_until_alive(Duration::seconds(5)));
  ASSERT_TRUE(stations.loop().run_until(stations.now() + Duration::seconds(1), [&] {
    return stations.gateway(kTerminal).peers().at(0).are_sources_known;
  }));
  connect(stations.host(kTerminal), stations.host(kHub), IpVersion::kV4);
  EXPECT_EQ(counted(kTerminal, Counter::kFlowsEstablished), 5U);
  connect(stations.host(kTerminal), stations.host(kHub), IpVersion::kV6);
  connect(stations.host(kTerminal, 1), stations.host(kHub), IpVersion::kV4);
  EXPECT_EQ(stations.diagnostics(), std::vector<std::string>());
  EXPECT_EQ(counted(kTerminal, Counter::kFlowsEstablished), 5U);
  EXPECT_EQ(counted(kTerminal, Counter::kBridgedUnacceptedSource), 10U);
  EXPECT_EQ(counted(kHub, Counter::kSynsOfNoPeer), 10U);
  EXPECT_EQ(counted(kHub, Counter::kFlowsRefusedForeign), 0U);
  // From the hub to the same hosts.
  connect(stations.host(kHub), stations.host(kTerminal), IpVersion::kV6);
  connect(stations.host(kHub), stations.host(kTerminal, 1), IpVersion::kV4);
  connect(stations.host(kHub), stations.host(kTerminal), IpVersion::kV4);
  EXPECT_EQ(stations.diagnostics(), std::vector<std::string>());
  EXPECT_EQ(counted(kHub, Counter::kFlowsEstablished), 5U) << "what the hub lists is relayed";
}

// Before the list has arrived, the gateway learns only from the peer's refusal, and bridges the
// next connection.
TEST_F(AcceptedSources, BeforeTheListIsThereOneConnectionOfAnUnlistedHostIsReset) {
  stations.loop().run_until(stations.now() + Duration::seconds(5), [&] {
    return stations.gateway(kTerminal).peers().at(0).state == stp::PeerState::kAlive;
  });
  ASSERT_FALSE(stations.gateway(kTerminal).peers().at(0).are_sources_known);
  stations.transfer(stations.host(kTerminal), stations.host(kHub), IpVersion::kV4, 10'000, 10'000);
  const Transfer& refused = stations.transfer(stations.host(kTerminal), stations.host(kHub),
                                              IpVersion::kV6, 10'000, 10'000);
  stations.loop().run_until(stations.now() + Duration::seconds(5));
  EXPECT_EQ(refused.client.reason, tcp::CloseReason::kResetByPeer);
  const Transfer& next = stations.transfer(stations.host(kTerminal), stations.host(kHub),
                                           IpVersion::kV6, 10'000, 10'000);
  stations.loop().run_until(stations.now() + Duration::seconds(10));
  EXPECT_EQ(next.client.received, 10'000U);
  EXPECT_EQ(counted(kTerminal, Counter::kFlowsEstablished), 2U);
  EXPECT_EQ(counted(kTerminal, Counter::kBridgedUnacceptedSource), 1U);
}

}  // namespace
}  // namespace satrelay::sim::accepted_sources_test
