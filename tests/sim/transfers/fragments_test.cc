// Hosts that send segments in fragments, or behind IPv6 extension headers. The gateways relay these
// segments like whole and plain ones.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "relay/sim/adversaries/tricks.h"
#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::fragments_test {
namespace {

using gateway::Counter;

constexpr std::uint64_t kBytes = 1'000'000;

// A transfer in each direction, opened from either side.
Scenario transfers(std::uint64_t seed, IpVersion version, const Wrapping& wrapping) {
  Scenario scenario = make_lab(seed, {.loss = 0.01});
  set_mtu(scenario, {.lan = 1400});
  for (Station& station : scenario.stations) {
    for (HostSpec& host : station.hosts) host.wrapping = wrapping;
  }
  for (const Side side : {Side::kA, Side::kB}) {
    add_flow(scenario, side, sender(kBytes), receiver()).version = version;
    add_flow(scenario, side, requester(100), responder(100, kBytes)).version = version;
  }
  return scenario;
}

// Expects that all flows are relayed, and no fragment or extension header is bridged.
void expect_complete(const Scenario& scenario, Network& network) {
  EXPECT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(300)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  for (const Side side : {Side::kA, Side::kB}) {
    const GatewayNode& node = network.gateway(side);
    EXPECT_EQ(node.counted(Counter::kFlowsAccepted), scenario.flows.size() / 2);
    EXPECT_EQ(node.counted(Counter::kBridgedFragment), 0U);
    EXPECT_EQ(node.counted(Counter::kBridgedIpExtension), 0U);
  }
}

TEST(Fragments, OfRelayedSegmentsArePutTogether) {
  for (const IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
    // The smaller of these sizes splits even a SYN.
    for (const std::size_t size : {std::size_t{24}, std::size_t{1'000}}) {
      for (const auto order : {Wrapping::Order::kFirstToLast, Wrapping::Order::kLastToFirst}) {
        SCOPED_TRACE(size);
        const Scenario scenario = transfers(size, version, {.fragment_size = size, .order = order});
        Tracer tracer;
        Network network(scenario, tracer);
        expect_complete(scenario, network);
        for (const Side side : {Side::kA, Side::kB}) {
          const GatewayNode& node = network.gateway(side);
          EXPECT_GT(node.counted(Counter::kDatagramsReassembled), 2 * kBytes / 1'400);
        }
      }
    }
  }
}

// A lost fragment costs its whole segment. Late and duplicated fragments do no harm.
TEST(Fragments, ALanMayLoseAndDelayThem) {
  for (const IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
    Scenario scenario = transfers(5, version, {.fragment_size = 304});
    for (Station& station : scenario.stations) {
      station.cable.loss = 0.002;
      station.cable.duplicate = 0.01;
      station.cable.reorder = 0.02;
      station.cable.reorder_by = Duration::microseconds(300);
    }
    Tracer tracer;
    Network network(scenario, tracer);
    expect_complete(scenario, network);
    const GatewayNode& node = network.gateway(Side::kA);
    EXPECT_GT(node.counted(Counter::kDroppedFragmentDuplicate), 10U);
    network.run_for(Duration::seconds(20));
    EXPECT_GT(node.counted(Counter::kDroppedFragmentTimeout), 0U);
    EXPECT_EQ(node.counted(Counter::kDroppedFragmentOverlap), 0U);
  }
}

TEST(Fragments, ExtensionHeadersAreSteppedOver) {
  // Hop-by-hop options, destination options, routing, and an atomic fragment.
  using Number = std::uint8_t;
  for (const Number number : {Number{0}, Number{60}, Number{43}, Number{44}}) {
    SCOPED_TRACE(int{number});
    const Scenario scenario = transfers(3, IpVersion::kV6, {.extension_header = number});
    Tracer tracer;
    Network network(scenario, tracer);
    expect_complete(scenario, network);
  }
  const Scenario both =
      transfers(4, IpVersion::kV6, {.fragment_size = 400, .extension_header = std::uint8_t{60}});
  Tracer tracer;
  Network network(both, tracer);
  expect_complete(both, network);
}

// An attacker forges fragments of other hosts. That does not stop segments with fragments that
// arrive in order.
TEST(Fragments, ForgedOnesDoNotStopThem) {
  Scenario scenario = transfers(6, IpVersion::kV4, {.fragment_size = 1'000});
  scenario.forgings.push_back({.side = Side::kA,
                               .seed = 6,
                               .from = Instant() + Duration::seconds(4),
                               .length = Duration::seconds(20),
                               .frames = 20'000,
                               .tricks = bit(LanTrick::kFragments)});
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(300)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  EXPECT_EQ(network.gateway(Side::kA).counted(Counter::kFlowsAccepted), 2U);
}

}  // namespace
}  // namespace satrelay::sim::fragments_test
