// Paths that do not keep the order of packets. Late packets must not be taken for lost ones.
#include <gtest/gtest.h>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::disorder_test {
namespace {

TEST(Disorder, LatePacketsAreNotSentAgain) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Scenario scenario = make_lab(seed, {});
    scenario.a_to_b.reorder = 0.05;
    scenario.a_to_b.reorder_by = Duration::milliseconds(10);
    add_flow(scenario, Side::kA, sender(50'000'000), receiver());
    Tracer tracer;
    Network network(scenario, tracer);
    ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(120)));
    for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
    ASSERT_GT(network.satellite().from_a().counters().reordered, 1'500U);
    const auto peers = network.gateway(Side::kA).engine().peers();
    const stp::Counters& stp = peers[0].counters;
    EXPECT_LT(static_cast<double>(stp.spurious_losses),
              static_cast<double>(stp.packets_out) * 0.001)
        << stp.packets_lost << " called lost";
  }
}

// Losses among late packets must still be found, only a little later.
TEST(Disorder, LossesAmongLatePacketsAreRepaired) {
  Scenario scenario = make_lab(4, {});
  scenario.a_to_b.reorder = 0.05;
  scenario.a_to_b.loss = 0.01;
  add_flow(scenario, Side::kA, sender(50'000'000), receiver());
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(120)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  const auto peers = network.gateway(Side::kA).engine().peers();
  const stp::Counters& stp = peers[0].counters;
  EXPECT_LT(static_cast<double>(stp.spurious_losses), static_cast<double>(stp.packets_out) * 0.001);
  const auto& link = network.satellite().from_a().counters();
  EXPECT_LE(stp.packets_lost, link.dropped_loss + stp.spurious_losses);
}

}  // namespace
}  // namespace satrelay::sim::disorder_test
