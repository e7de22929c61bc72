// An attacker greets a gateway in its peer's name. Flows go on, hosts are not reset, and a peer
// that has really restarted is recognized as soon as without the attack.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "relay/sim/adversaries/forged_hello.h"
#include "relay/sim/network/network.h"
#include "relay/sim/network/network_addresses.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::newcomer_test {
namespace {

using gateway::Counter;

constexpr Duration kRoundTrip = Duration::milliseconds(550);
constexpr std::uint64_t kLaterEpoch = 1'800'000'000'000'000'000U;
constexpr std::uint64_t kHigh = 1ULL << 62;

class NewcomerSim : public ::testing::TestWithParam<bool> {
 protected:
  void start(std::uint64_t seed) {
    LinkSpec link;
    link.one_way_delay = kRoundTrip / 2;
    link.loss = 0.01;
    Scenario scenario = make_lab(seed, link);
    scenario.encrypts = GetParam();
    for (const Side side : {Side::kA, Side::kB}) {
      add_flow(scenario, side, requester(100), responder(100, 4'000'000));
      add_flow(scenario, side, sender(4'000'000), receiver());
    }
    for (FlowSpec& flow : scenario.flows) flow.start = Instant() + Duration::seconds(2);
    network.emplace(scenario, tracer);
  }
  // Sends a HELLO to A's gateway in the name of B's.
  void forge(std::uint64_t epoch) {
    ForgedHello hello{.from = {*IpAddress::parse(kGatewayAddress[1]), kGatewayMac[1]},
                      .to = {*IpAddress::parse(kGatewayAddress[0]), kGatewayMac[0]},
                      .epoch = epoch};
    if (GetParam()) {
      hello.offer.resize(103);
      store_u64(hello.offer.data(), epoch);
    }
    network->gateway(Side::kA).receive(static_cast<unsigned>(gateway::PortId::kWan),
                                       network->frames().copy_of(write_forged_hello(hello)));
  }
  // Sends `many` forged HELLOs a millisecond for `time`.
  void flood(Duration time, int many) {
    for (std::int64_t left = time.to_milliseconds(); left > 0; --left) {
      for (int i = 0; i < many; ++i) forge(kHigh + ++forged);
      network->run_for(Duration::milliseconds(1));
    }
  }
  stp::PeerState state(Side side) { return network->gateway(side).engine().peers().at(0).state; }
  std::uint64_t restarts() {
    return network->gateway(Side::kA).engine().peers().at(0).counters.peer_restarts;
  }
  Tracer tracer;
  std::optional<Network> network;
  std::uint64_t forged = 0;
};

TEST_P(NewcomerSim, OneForgedHelloHarmsNobody) {
  start(1);
  network->run_for(Duration::seconds(3));
  forge(kHigh);
  EXPECT_TRUE(network->run_until_flows_over(Instant() + Duration::seconds(60)));
  for (std::size_t i = 0; i < network->flow_count(); ++i) {
    EXPECT_TRUE(network->flow(i).client.saw_end || network->flow(i).server.saw_end) << i;
    EXPECT_FALSE(network->flow(i).client.was_reset() || network->flow(i).server.was_reset()) << i;
  }
  EXPECT_EQ(restarts(), 0U);
  EXPECT_EQ(network->counted(Counter::kFlowsResetPeerRestart), 0U);
}

TEST_P(NewcomerSim, AFloodOfForgedHellosHarmsNobody) {
  start(2);
  flood(Duration::seconds(4), 10);
  EXPECT_EQ(state(Side::kA), stp::PeerState::kAlive) << "known in spite of the flood";
  flood(Duration::seconds(10), 10);
  EXPECT_TRUE(network->run_until_flows_over(Instant() + Duration::seconds(60)));
  EXPECT_EQ(network->counted(Counter::kFlowsResetPeerRestart), 0U);
  EXPECT_EQ(network->counted(Counter::kFlowsResetPeerLost), 0U);
  EXPECT_EQ(restarts(), 0U);
}

TEST_P(NewcomerSim, ARestartOfThePeerIsFoundInAFlood) {
  start(3);
  network->run_for(Duration::seconds(3));
  flood(Duration::seconds(1), 10);
  network->gateway(Side::kB).kill();
  flood(Duration::milliseconds(200), 10);
  network->gateway(Side::kB).start(kLaterEpoch);
  // A session that encrypts may read none of the HELLOs before the peer is suspect.
  flood(GetParam() ? Duration::seconds(5) : kRoundTrip * 3, 10);
  EXPECT_EQ(restarts(), 1U);
  EXPECT_EQ(state(Side::kA), stp::PeerState::kAlive);
  EXPECT_EQ(state(Side::kB), stp::PeerState::kAlive);
  for (std::size_t i = 0; i < network->flow_count(); ++i) {
    const FlowSpec& spec = network->spec(i);
    const FlowResult& flow = network->flow(i);
    EXPECT_TRUE((spec.client_side == Side::kA ? flow.client : flow.server).ended) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Sim, NewcomerSim, ::testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Encrypted" : "InTheClear";
});

}  // namespace
}  // namespace satrelay::sim::newcomer_test
