// `capacity: find` at a hub with peers that share a carrier and a modem. The tests measure the
// modem's queue while many peers find at a time, and how much one peer can harm the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/sharing/udp_traffic.h"
#include "tests/sim/stations.h"

namespace satrelay::sim::find_hub_test {
namespace {

using gateway::PortId;

constexpr std::uint64_t kRate = 20'000'000;  // Rate of each modem.
constexpr BitRate kModem = BitRate::bits_per_second(kRate);

class FindHub : public ::testing::Test {
 protected:
  // The terminals are stations 1 and up, behind modems of `rates`.
  void start(const std::vector<std::uint64_t>& rates) {
    std::vector<std::size_t> terminals;
    for (std::size_t i = 1; i <= rates.size(); ++i) terminals.push_back(i);
    StationSpec hub = station(0, terminals);
    config::Link& link = hub.gateway.links[0];
    link.control.controller = config::Controller::kFind;
    link.send_rate = config::kMostLinkRate;
    link.receive_rate = config::kAssumedRate;
    hub.hosts[0].tcp.send_limit = 4 << 20;
    stations.add(hub);
    for (const std::size_t i : terminals) {
      StationSpec terminal = station(i, {0});
      terminal.down.rate = BitRate::bits_per_second(rates[i - 1]);
      terminal.hosts[0].tcp.receive_limit = 4 << 20;
      stations.add(terminal);
    }
    stations.start();
    ASSERT_TRUE(stations.run_until_alive(Duration::seconds(5)));
  }
  Transfer& download(std::size_t terminal, std::uint64_t bytes) {
    return stations.transfer(stations.host(terminal), stations.host(0), IpVersion::kV4, 100, bytes);
  }
  void run_for(Duration time) {
    const Instant end = stations.now() + time;
    worst = Duration::zero();
    const std::uint64_t before = modem().counters().bytes_carried;
    while (stations.now() < end) {
      stations.loop().run_until(stations.now() + Duration::milliseconds(1));
      worst = std::max(worst, modem().queue_delay(stations.now()));
    }
    share = static_cast<double>(modem().counters().bytes_carried - before) /
            static_cast<double>(kModem.bytes_in(time).value());
  }
  link::LinkDirection& modem() { return stations.link(0).from_a(); }
  stp::Counters counters(std::size_t terminal) {
    return stations.gateway(0).engine().peers().at(terminal - 1).counters;
  }

  Stations stations;
  Duration worst;  // Longest queue of the modem in the last run.
  double share = 0;
};

// The sessions begin 250 ms apart. If they began within 200 ms of each other, one time in three or
// four each session would take the others for traffic beside the gateways. Up to half of the
// carrier would then stay empty for long.
TEST_F(FindHub, ManyWhoFindShareTheCarrier) {
  start({kRate, kRate, kRate, kRate});
  for (std::size_t i = 1; i <= 4; ++i) {
    download(i, 400'000'000);
    run_for(Duration::milliseconds(250));
  }
  run_for(Duration::seconds(10));
  for (int i = 0; i < 4; ++i) {
    run_for(Duration::seconds(5));
    std::printf("  4 peers: %.3f, queue up to %.1f ms\n", share, worst.to_seconds() * 1e3);
    EXPECT_GT(share, 0.95);
    EXPECT_LT(worst, Duration::milliseconds(60));
  }
  for (std::size_t i = 1; i <= 4; ++i) {
    EXPECT_EQ(counters(i).rate_cuts_configured, 0U) << i;
    EXPECT_EQ(counters(i).rate_cuts_delay, 0U) << i;
  }
}

// All sessions begin at once. At first each takes the others for traffic beside the gateways.
TEST_F(FindHub, EightWhoBeginAtOnceKeepTheCarrierBusy) {
  start(std::vector<std::uint64_t>(8, kRate));
  for (std::size_t i = 1; i <= 8; ++i) download(i, 400'000'000);
  run_for(Duration::seconds(10));
  run_for(Duration::seconds(20));
  std::printf("  8 peers: %.3f, queue up to %.1f ms\n", share, worst.to_seconds() * 1e3);
  EXPECT_GT(share, 0.6);
}

// Sessions that have found the rate and have no data reserve no part of the carrier. The busy
// sessions share all of it, and build no long queue.
TEST_F(FindHub, WhoHasFoundAndFallsSilentLeavesNoQueueToTheOthers) {
  start(std::vector<std::uint64_t>(6, kRate));
  for (std::size_t i = 1; i <= 4; ++i) {
    download(i, 10'000'000);
    run_for(Duration::seconds(8));
  }
  download(5, 400'000'000);
  download(6, 400'000'000);
  run_for(Duration::seconds(8));
  run_for(Duration::seconds(10));
  std::printf("  2 of 6 peers: %.3f, queue up to %.1f ms\n", share, worst.to_seconds() * 1e3);
  EXPECT_GT(share, 0.95);
  EXPECT_LT(worst, Duration::milliseconds(60));
}

// A peer has a slow modem, or reports that it is slow. The gateway sends slowly to it, and other
// sessions begin as if they were alone.
TEST_F(FindHub, ASlowReceiverDoesNotHoldBackWhoBegins) {
  start({20'000, kRate});
  download(1, 10'000'000);
  run_for(Duration::seconds(30));
  EXPECT_LT(stations.gateway(0).engine().peers().at(0).send_rate,
            BitRate::bits_per_second(100'000));
  download(2, 400'000'000);
  run_for(Duration::seconds(5));
  run_for(Duration::seconds(5));
  std::printf("  beside one of 20 kbit/s: %.3f from the 6th second on\n", share);
  EXPECT_GT(share, 0.9);
}

// --- bridged frames ----------------------------------------------------------------------------

// A relayed download and bridged UDP to A, from hosts of B. `link` is the rate of that direction.
struct Bridged {
  explicit Bridged(std::uint64_t link, std::uint64_t bytes) : scenario(make_lab(1, spec(link))) {
    scenario.control.controller = config::Controller::kFind;
    if (bytes > 0) add_flow(scenario, Side::kA, requester(100), responder(100, bytes));
    network.emplace(scenario, tracer);
    traffic.emplace(*network, Duration::milliseconds(275));
    network->satellite().on_frame([this](unsigned from, ConstBytes frame) {
      if (from != SatelliteLink::kB) return;
      (frame.size() == 14 + kDatagram ? bridged : other) += frame.size() + 24;
    });
  }
  static LinkSpec spec(std::uint64_t link) {
    LinkSpec spec;
    spec.rate = BitRate::bits_per_second(link);
    spec.one_way_delay = Duration::milliseconds(275);
    return spec;
  }
  const UdpResult& send(double rate, int from_s, int seconds) {
    return traffic->add({.from = Side::kB,
                         .host = 0,
                         .bits_per_second = rate,
                         .ip_bytes = kDatagram,
                         .start = Instant() + Duration::seconds(from_s),
                         .length = Duration::seconds(seconds)});
  }
  void run_until(int seconds) { network->loop().run_until(Instant() + Duration::seconds(seconds)); }
  // Bits a second on the link until then: bridged and other.
  std::pair<double, double> rates(int until) {
    const Instant begin = network->loop().now();
    bridged = other = 0;
    run_until(until);
    const double time = (network->loop().now() - begin).to_seconds();
    return {static_cast<double>(bridged) * 8 / time, static_cast<double>(other) * 8 / time};
  }

  static constexpr std::size_t kDatagram = 333;
  Scenario scenario;
  Tracer tracer;
  std::optional<Network> network;
  std::optional<UdpTraffic> traffic;
  std::uint64_t bridged = 0, other = 0;
};

TEST(FindBridged, PassAsTheyComeWhileNothingIsKnown) {
  Bridged link(50'000'000, 0);
  const UdpResult& result = link.send(40e6, 2, 5);
  link.run_until(8);
  EXPECT_EQ(result.received, result.sent);
  EXPECT_LT(result.longest_wait, Duration::milliseconds(1));
}

TEST(FindBridged, ShareWhatWasFound) {
  Bridged link(10'000'000, 400'000'000);
  link.send(20e6, 15, 20);
  link.run_until(25);
  const auto [bridged, relayed] = link.rates(35);
  std::printf("  of 10 Mbit/s: bridged %.2f of 20, relayed %.2f\n", bridged / 1e6, relayed / 1e6);
  EXPECT_GT(bridged, 0.9e6) << "a tenth is guaranteed";
  EXPECT_GT(relayed, 0.9e6);
  EXPECT_LT(bridged + relayed, 10.1e6);
  EXPECT_GT(bridged + relayed, 9e6);
}

// A fade ends in an outage. The rate that was found during the fade says nothing about how much
// others may send.
TEST(FindBridged, AreNotHeldToWhatADeadPeerHasShown) {
  Bridged link(300'000, 100'000'000);
  link.send(2e6, 20, 60);
  link.run_until(30);
  const double held = link.rates(35).first;
  link.network->satellite().set_outage(true);
  link.run_until(70);
  const double after = link.rates(75).first;
  std::printf("  bridged: %.2f Mbit/s of 2, after the peer is gone %.2f\n", held / 1e6,
              after / 1e6);
  EXPECT_LT(held, 0.31e6);
  EXPECT_GT(after, 1.9e6);
}

}  // namespace
}  // namespace satrelay::sim::find_hub_test
