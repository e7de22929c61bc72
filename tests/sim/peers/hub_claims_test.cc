// A hub and two terminals: how frames go from terminal to terminal over the hub's LAN, and that a
// host cannot borrow the address of another terminal's host.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "tests/sim/stations.h"

namespace satrelay::sim::hub_claims_test {
namespace {

using gateway::Counter;
using gateway::PortId;

// A router on the hub's LAN. It knows that the terminals' hosts are behind the hub's gateway.
class HubRouter final : public FrameSink {
 public:
  HubRouter(Stations& stations, const std::vector<HostSpec>& far) : stations_(stations), far_(far) {
    stations.gateway(0).connect(PortId::kLan, *this, 0);
  }
  void receive(unsigned, FrameHandle frame) override {
    const auto ethernet = wire::parse_ethernet(stations_.frames().bytes(frame));
    const auto ip = ethernet
                        ? wire::parse_ip(stations_.frames().bytes(frame).subspan(ethernet->size()))
                        : std::nullopt;
    const auto host = std::ranges::find_if(
        far_, [&](const HostSpec& each) { return ip && each.addresses.v4 == ip->destination; });
    if (host == far_.end()) {
      stations_.tap(0).receive(SimLan::kGateway, frame);
      return;
    }
    ++turned;
    const MutableBytes bytes = stations_.frames().room(frame);
    wire::EthernetHeader header = *ethernet;
    header.source = {{0x02, 0, 0x5e, 0, 0xfd, 1}};
    header.destination = host->addresses.mac;
    wire::write_ethernet(header, bytes);
    wire::IpHeader hop = *ip;
    --hop.hop_limit;
    wire::write_ip(hop, bytes.subspan(header.size()));
    stations_.loop().at(stations_.now() + Duration::microseconds(100), [this, frame] {
      stations_.gateway(0).receive(static_cast<unsigned>(PortId::kLan), frame);
    });
  }
  std::uint64_t turned = 0;

 private:
  Stations& stations_;
  std::vector<HostSpec> far_;
};

class HubClaims : public ::testing::Test {
 protected:
  static IpPrefix hosts_of(std::size_t station) {
    return *IpPrefix::parse("10." + std::to_string(station) + ".0.0/16");
  }
  std::uint64_t counted(std::size_t at, Counter counter) {
    return stations.gateway(at).engine().counters()[counter];
  }
  Stations stations;
};

TEST_F(HubClaims, FromTerminalToTerminalBothLegsAreRelayed) {
  stations.add(station(0, {1, 2}));
  for (const std::size_t i : {1U, 2U}) {
    StationSpec terminal = station(i, {0});
    terminal.gateway.peers[0].prefixes.push_back(hosts_of(3 - i));
    stations.add(terminal);
  }
  stations.start();
  HubRouter router(stations, {host_of(1, 10), host_of(2, 10)});
  ASSERT_TRUE(stations.run_until_alive(Duration::seconds(5)));
  for (int i = 0; i < 5; ++i) {
    stations.transfer(stations.host(1), stations.host(2), IpVersion::kV4, 100'000, 300'000);
    stations.transfer(stations.host(2), stations.host(1), IpVersion::kV4, 300'000, 100'000);
  }
  EXPECT_TRUE(stations.run_until_over(Duration::seconds(60)));
  EXPECT_EQ(stations.diagnostics(), std::vector<std::string>());
  EXPECT_EQ(counted(1, Counter::kFlowsEstablished), 5U);
  EXPECT_EQ(counted(2, Counter::kFlowsEstablished), 5U);
  EXPECT_EQ(counted(0, Counter::kFlowsFromPeer), 10U);
  EXPECT_EQ(counted(0, Counter::kFlowsEstablished), 10U) << "the second legs";
  EXPECT_EQ(counted(0, Counter::kBridgedForeignSource), 0U);
  EXPECT_GT(router.turned, 1'000U);
}

// A host at the second terminal sends with the address of a host at the first. Its frames are left
// to the network, as without gateways, since the hub has told from which hosts it accepts
// connections. The hub relays none of that host's connections.
TEST_F(HubClaims, AHostThatBorrowsTheAddressOfAnotherTerminalIsLeftToTheNetwork) {
  stations.add(station(0, {1, 2}));
  stations.add(station(1, {0}));
  StationSpec second = station(2, {0});
  HostSpec liar = host_of(2, 66);
  liar.addresses.v4 = host_of(1, 9).addresses.v4;
  second.hosts.push_back(liar);
  stations.add(second);
  stations.start();
  ASSERT_TRUE(stations.run_until_alive(Duration::seconds(5)));
  stations.loop().run_until(stations.now() + Duration::seconds(1));  // The list arrives.
  stations.transfer(stations.host(2, 1), stations.host(0), IpVersion::kV4, 10'000, 10'000);
  stations.loop().run_until(stations.now() + Duration::seconds(5));
  EXPECT_GT(counted(2, Counter::kBridgedUnacceptedSource), 0U);
  EXPECT_EQ(counted(2, Counter::kFlowsAccepted), 0U);
  EXPECT_EQ(counted(0, Counter::kFlowsRefusedForeign), 0U);
  EXPECT_EQ(counted(0, Counter::kFlowsFromPeer), 0U);
  const Transfer& truth =
      stations.transfer(stations.host(2), stations.host(0), IpVersion::kV4, 10'000, 10'000);
  stations.loop().run_until(stations.now() + Duration::seconds(20),
                            [&] { return truth.client.ended; });
  EXPECT_TRUE(truth.server.saw_end && truth.client.saw_end);
}

// The same on the hub's own LAN, with the address of a terminal's host. No peer gets an OPEN for
// the connection.
TEST_F(HubClaims, AHostOfTheHubThatBorrowsATerminalsAddressIsLeftToTheNetwork) {
  StationSpec hub = station(0, {1, 2});
  HostSpec liar = host_of(0, 66);
  liar.addresses.v4 = host_of(1, 9).addresses.v4;
  hub.hosts.push_back(liar);
  stations.add(hub);
  for (const std::size_t i : {1U, 2U}) stations.add(station(i, {0}));
  stations.start();
  ASSERT_TRUE(stations.run_until_alive(Duration::seconds(5)));
  stations.transfer(stations.host(0, 1), stations.host(2), IpVersion::kV4, 10'000, 10'000);
  stations.loop().run_until(stations.now() + Duration::seconds(5));
  EXPECT_GT(counted(0, Counter::kBridgedForeignSource), 0U);
  EXPECT_EQ(counted(0, Counter::kFlowsAccepted), 0U);
  EXPECT_EQ(counted(2, Counter::kFlowsFromPeer), 0U);
}

}  // namespace
}  // namespace satrelay::sim::hub_claims_test
