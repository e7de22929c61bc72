// Gateways with several workers. At both ends each flow is at the worker that its hash names. All
// that passes one worker also passes several.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "relay/gateway/steering/flow_hash.h"
#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/stations.h"

namespace satrelay::sim::workers_test {
namespace {

using gateway::Counter;

constexpr std::uint64_t kBytes = 1'000'000;

struct Workers {
  unsigned a = 1;
  unsigned b = 1;
};

// Each side begins `flows` uploads and as many downloads, half of them over IPv4 and half over
// IPv6.
Scenario transfers(const Workers& workers, std::size_t flows, std::uint64_t bytes = kBytes) {
  Scenario scenario = make_lab(1, {.loss = 0.01});
  scenario.stations[0].workers = workers.a;
  scenario.stations[1].workers = workers.b;
  for (std::size_t i = 0; i < flows; ++i) {
    for (const Side side : {Side::kA, Side::kB}) {
      const IpVersion version = i % 2 == 0 ? IpVersion::kV4 : IpVersion::kV6;
      add_flow(scenario, side, sender(bytes), receiver()).version = version;
      add_flow(scenario, side, requester(100), responder(100, bytes)).version = version;
    }
  }
  return scenario;
}

// How many flows each worker has. Each flow must belong to the worker that has it.
std::vector<std::size_t> flows_of_workers(Network& network, Side side) {
  GatewayNode& node = network.gateway(side);
  std::vector<std::size_t> counts;
  for (unsigned i = 0; i < node.workers(); ++i) {
    const auto flows = node.engine(i).flows(0, node.engine(i).flow_count(), network.loop().now());
    for (const gateway::FlowSnapshot& flow : flows) {
      const std::uint32_t hash =
          gateway::flow_hash(flow.client, flow.server, flow.client_port, flow.server_port);
      EXPECT_EQ(hash & (node.workers() - 1), i);
    }
    counts.push_back(flows.size());
  }
  return counts;
}

void expect_complete(Network& network) {
  EXPECT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(300)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  EXPECT_EQ(network.counted(Counter::kDroppedOtherWorker), 0U);
  EXPECT_EQ(network.counted(Counter::kFlowsRefusedLane), 0U);
  EXPECT_EQ(network.counted(Counter::kDroppedStpUnknownLane), 0U);
  EXPECT_EQ(network.counted(Counter::kFlowsAccepted), network.flow_count());
  EXPECT_EQ(network.bridged_tcp(), 0U);
}

TEST(Workers, EachFlowIsAtTheOneThatItsHashNames) {
  for (const Workers& workers : {Workers{2, 2}, Workers{1, 4}, Workers{4, 2}, Workers{8, 8}}) {
    SCOPED_TRACE(std::to_string(workers.a) + " and " + std::to_string(workers.b));
    Scenario scenario = transfers(workers, 8);
    // A neighbour that one worker learns must reach all workers.
    scenario.static_neighbours = false;
    Tracer tracer;
    Network network(scenario, tracer);
    ASSERT_TRUE(network.run_until_peers_alive(Instant() + Duration::seconds(4)));
    network.run_for(Instant() + Duration::seconds(7) - network.loop().now());
    for (const Side side : {Side::kA, Side::kB}) {
      for (const std::size_t flows : flows_of_workers(network, side)) EXPECT_GT(flows, 0U);
    }
    expect_complete(network);
    for (const Side side : {Side::kA, Side::kB}) {
      EXPECT_EQ(network.gateway(side).stp_handed_over(), 0U) << "a lane comes by another queue";
    }
    EXPECT_TRUE(network.run_until_drained(network.loop().now() + Duration::seconds(300)));
    for (const std::string& broken : check_memory(network)) ADD_FAILURE() << broken;
  }
}

TEST(Workers, FragmentsOfASegmentMeetWhateverTheirOrder) {
  for (const auto order : {Wrapping::Order::kFirstToLast, Wrapping::Order::kLastToFirst}) {
    Scenario scenario = transfers({4, 2}, 2, 200'000);
    set_mtu(scenario, {.lan = 1400});
    for (Station& station : scenario.stations) {
      for (HostSpec& host : station.hosts) {
        host.wrapping = {.fragment_size = 400, .order = order};
      }
    }
    Tracer tracer;
    Network network(scenario, tracer);
    expect_complete(network);
    for (const Side side : {Side::kA, Side::kB}) {
      const GatewayNode& node = network.gateway(side);
      EXPECT_GT(node.counted(Counter::kDatagramsReassembled), 2 * 200'000U / 1'400);
      const bool disorder = order == Wrapping::Order::kLastToFirst;
      EXPECT_EQ(node.steering().counters().kept > 0, disorder);
      EXPECT_EQ(node.steering().counters().dropped_late, 0U);
      EXPECT_EQ(node.steering().counters().dropped_no_room, 0U);
      EXPECT_EQ(node.steering().kept(), 0U);
    }
  }
}

// A killed gateway comes back. Each lane of its peer lists the forgotten flows, or each worker
// finds them in its journal. No host hangs.
TEST(Workers, ARestartOfOneGatewayIsDealtWithOnEachLane) {
  for (const bool journal : {false, true}) {
    Scenario scenario = transfers({4, 2}, 4, 80'000'000);
    scenario.journal = journal;
    Tracer tracer;
    Network network(scenario, tracer);
    network.run_for(Duration::seconds(8));
    const std::size_t flows = network.flow_count();
    network.gateway(Side::kA).kill();
    network.run_for(Duration::seconds(2));
    network.gateway(Side::kA).start(1'800'000'000'000'000'000U);
    network.run_for(Duration::seconds(10));
    for (std::size_t i = 0; i < flows; ++i) {
      EXPECT_TRUE(network.flow(i).client.was_reset()) << i;
      EXPECT_TRUE(network.flow(i).server.was_reset()) << i;
    }
    EXPECT_EQ(network.gateway(Side::kB).counted(Counter::kFlowsListed), flows);
    EXPECT_EQ(network.gateway(Side::kA).counted(Counter::kFlowsOrphaned), flows);
    EXPECT_EQ(network.gateway(Side::kA).counted(Counter::kOrphansRefused), 0U);
  }
}

class WorkersOfStations : public testing::Test {
 protected:
  void start(const Workers& workers, const Workers& believed) {
    StationSpec specs[] = {station(0, {1}), station(1, {0})};
    specs[0].gateway.worker.count = workers.a;
    specs[0].gateway.peers[0].workers = believed.b;
    specs[1].gateway.worker.count = workers.b;
    specs[1].gateway.peers[0].workers = believed.a;
    for (const StationSpec& spec : specs) stations_.add(spec);
    stations_.start();
  }
  void expect_complete() {
    EXPECT_TRUE(stations_.run_until_over(Duration::seconds(120)));
    for (const std::string& broken : stations_.diagnostics()) ADD_FAILURE() << broken;
  }
  Stations stations_;
};

// A hop behind the far host's gateway carries shorter packets. Its ICMP errors reach the flow that
// they are about.
TEST_F(WorkersOfStations, ErrorsAboutASegmentReachItsFlow) {
  start({4, 8}, {4, 8});
  ASSERT_TRUE(stations_.run_until_alive(Duration::seconds(10)));
  stations_.tap(1).narrow_to(1300, *IpAddress::parse("10.1.0.250"),
                             *IpAddress::parse("2001:db8:1::250"));
  for (int i = 0; i < 8; ++i) {
    for (const IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
      stations_.transfer(stations_.host(0), stations_.host(1), version, 200'000, 1'000);
    }
  }
  expect_complete();
  EXPECT_GE(stations_.tap(1).refused(), 16U);
  EXPECT_GE(stations_.gateway(1).counted(Counter::kDroppedIcmpForRelayed), 16U);
}

// The gateways would look for a flow at different workers. So they relay nothing, and bridge
// everything.
TEST_F(WorkersOfStations, GatewaysThatDoNotAgreeOnTheirNumberRelayNothing) {
  start({2, 4}, {2, 2});
  stations_.loop().run_until(stations_.now() + Duration::seconds(8));
  for (std::size_t i = 0; i < 2; ++i) {
    bool any = false;
    for (const gateway::PeerSnapshot& peer : stations_.gateway(i).peers()) {
      EXPECT_NE(peer.state, stp::PeerState::kAlive);
      any = any || peer.counters.lanes_mismatch > 0;
    }
    EXPECT_TRUE(any);
  }
  for (int i = 0; i < 4; ++i) {
    stations_.transfer(stations_.host(0), stations_.host(1), IpVersion::kV4, 10'000, 10'000);
  }
  expect_complete();
  EXPECT_EQ(stations_.gateway(0).counted(Counter::kFlowsAccepted), 0U);
}

}  // namespace
}  // namespace satrelay::sim::workers_test
