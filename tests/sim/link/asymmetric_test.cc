// Routes that cross the gateways in one direction only. The gateways find such a route soon, and
// bridge its connections.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "pep/wire/ethernet.h"
#include "tests/sim/stations.h"

namespace satrelay::sim::asymmetric_test {
namespace {

using gateway::Counter;

// Hands frames from the hosts of station 1 to host 0 of station 0 directly to that host's LAN. So
// they pass neither gateway.
class Detour final : public FrameSink {
 public:
  Detour(Stations& stations, const HostSpec& host)
      : stations_(&stations), frames_(&stations.frames()), mac_(host.addresses.mac) {
    stations.lan(1).connect_gateway(*this, static_cast<unsigned>(gateway::PortId::kLan));
  }
  void receive(unsigned port, FrameHandle frame) override {
    if (wire::parse_ethernet(frames_->bytes(frame))->destination == mac_) {
      stations_->lan(0).receive(SimLan::kGateway, frame);
    } else {
      stations_->gateway(1).receive(port, frame);
    }
  }

 private:
  Stations* stations_;
  FramePool* frames_;
  MacAddress mac_;
};

class Asymmetric : public ::testing::Test {
 protected:
  void start(config::HandshakeMode handshake) {
    for (const std::size_t i : {0U, 1U}) {
      StationSpec spec = station(i, {1 - i});
      spec.gateway.rules.emplace_back().modes.handshake = handshake;
      spec.hosts = {host_of(i, 10), host_of(i, 11)};
      stations.add(spec);
    }
    stations.start();
    ASSERT_TRUE(stations.run_until_alive(Duration::seconds(10)));
    detour.emplace(stations, stations.host(0).spec());
  }
  std::uint64_t counted(std::size_t at, Counter counter) {
    return stations.gateway(at).engine().counters()[counter];
  }
  Stations stations;
  std::optional<Detour> detour;
};

TEST_F(Asymmetric, AClientIsResetSoonAndItsNextConnectionsAreBridged) {
  start(config::HandshakeMode::kLocal);
  const Instant began = stations.now();
  const Transfer& first =
      stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 1'000, 1'000);
  stations.loop().run_until(began + Duration::seconds(200), [&] { return first.client.ended; });
  EXPECT_TRUE(first.client.was_reset());
  const double seconds = (stations.now() - began).to_seconds();
  std::printf("  reset after %.2f s\n", seconds);
  EXPECT_LT(seconds, 2.5);
  EXPECT_EQ(counted(0, Counter::kFlowsUnreachable), 1U);
  const Transfer& next =
      stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 100'000, 100'000);
  stations.loop().run_until(stations.now() + Duration::seconds(20),
                            [&] { return next.client.ended && next.server.ended; });
  EXPECT_TRUE(next.client.saw_end && next.server.saw_end);
  EXPECT_FALSE(next.client.first_wrong_byte || next.server.first_wrong_byte);
  EXPECT_EQ(counted(0, Counter::kBridgedAsymmetric), 1U);
  // Other hosts are reached through the gateways in both directions, so their flow is relayed.
  stations.transfer(stations.host(0, 1), stations.host(1), IpVersion::kV4, 1'000, 1'000);
  stations.loop().run_until(stations.now() + Duration::seconds(5));
  EXPECT_EQ(counted(1, Counter::kFlowsFromPeer), 2U);
}

TEST_F(Asymmetric, WithARemoteHandshakeTheFirstConnectionStands) {
  start(config::HandshakeMode::kRemote);
  const Instant began = stations.now();
  const Transfer& first =
      stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 1'000, 1'000);
  stations.loop().run_until(began + Duration::seconds(60),
                            [&] { return first.client.established; });
  std::printf("  established after %.2f s\n", (stations.now() - began).to_seconds());
  // The client repeats its SYN at second 3. The gateway bridges it, and it ends the connection that
  // the far gateway's SYN has opened at the server. The server answers the SYN of second 7.
  EXPECT_LT(stations.now() - began, Duration::seconds(8));
  EXPECT_FALSE(first.client.ended);
  EXPECT_EQ(counted(0, Counter::kFlowsUnreachable), 1U);
  EXPECT_EQ(counted(0, Counter::kBridgedAsymmetric), 2U);
  const Transfer& next =
      stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 1'000, 1'000);
  stations.loop().run_until(stations.now() + Duration::seconds(5),
                            [&] { return next.client.ended && next.server.ended; });
  EXPECT_TRUE(next.client.saw_end && next.server.saw_end);
}

// An answer that once came through the gateways proves nothing any more when the client's segments
// show that the server answers another way.
TEST_F(Asymmetric, ARouteThatChangesIsFoundAfterAnswersThroughTheGateways) {
  start(config::HandshakeMode::kLocal);
  detour.reset();
  stations.lan(1).connect_gateway(stations.gateway(1), 0);
  const Transfer& before =
      stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 1'000, 1'000);
  stations.loop().run_until(stations.now() + Duration::seconds(10),
                            [&] { return before.client.ended && before.server.ended; });
  ASSERT_TRUE(before.client.saw_end);
  detour.emplace(stations, stations.host(0).spec());
  const Transfer& first =
      stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 1'000, 1'000);
  stations.loop().run_until(stations.now() + Duration::seconds(5),
                            [&] { return first.client.ended; });
  EXPECT_TRUE(first.client.was_reset());
  const Transfer& next =
      stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 1'000, 1'000);
  stations.loop().run_until(stations.now() + Duration::seconds(10),
                            [&] { return next.client.ended && next.server.ended; });
  EXPECT_TRUE(next.client.saw_end && next.server.saw_end);
  EXPECT_EQ(counted(0, Counter::kBridgedAsymmetric), 1U);
}

// A server that is slow to answer does not make a route asymmetric.
TEST_F(Asymmetric, AClientThatRepeatsItselfIsNotEnough) {
  start(config::HandshakeMode::kLocal);
  detour.reset();
  stations.lan(1).connect_gateway(stations.gateway(1), 0);
  stations.host(1).vanish();
  const Transfer& first =
      stations.transfer(stations.host(0), stations.host(1), IpVersion::kV4, 1'000, 1'000);
  stations.loop().run_until(stations.now() + Duration::seconds(60));
  EXPECT_FALSE(first.client.ended);
}

}  // namespace
}  // namespace satrelay::sim::asymmetric_test
