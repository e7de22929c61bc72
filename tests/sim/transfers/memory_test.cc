// Gateways with too little memory for what their hosts want. Transfers are slower, but never stand
// still.
#include <gtest/gtest.h>

#include "relay/sim/checks/checks.h"
#include "relay/sim/hosts/pattern.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::memory_test {
namespace {

void expect_all_arrives(const Scenario& scenario, Duration within) {
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_flows_over(Instant() + within)) << "some flow never ended";
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
}

Scenario with_memory(std::uint64_t seed, ByteCount memory) {
  Scenario scenario = make_lab(seed, {});
  for (const Side side : {Side::kA, Side::kB}) {
    scenario.station(side).limits.memory = memory;
  }
  return scenario;
}

// Each host gets a window before any host has used its own. Together the windows are several times
// the arena.
TEST(Memory, ManyHostsThatFillTheirWindowsAtOnceAllFinish) {
  Scenario scenario = with_memory(21, ByteCount(2U << 20));
  for (int i = 0; i < 48; ++i) {
    add_flow(scenario, i % 2 == 0 ? Side::kA : Side::kB, sender(400'000), receiver());
  }
  expect_all_arrives(scenario, Duration::seconds(300));
}

// A compressed block is delivered only when it is whole. The unfinished blocks of many streams must
// not use up the credit that would finish them.
TEST(Memory, ManyCompressedStreamsShareASmallCredit) {
  Scenario scenario = with_memory(22, ByteCount(2U << 20));
  for (int i = 0; i < 60; ++i) {
    add_flow(scenario, Side::kA, sender(300'000), receiver(), Content::kText);
  }
  expect_all_arrives(scenario, Duration::seconds(300));
}

// A slow reader finally takes all that it was granted at first. New credit follows from its reading
// rate, so that it leaves memory to others.
TEST(Memory, ASlowReaderComesToHoldOnlyWhatItWillSoonTake) {
  Scenario scenario = with_memory(23, ByteCount(64U << 20));
  add_flow(scenario, Side::kA, sender(60'000'000),
           slow(receiver(), BitRate::bits_per_second(6'000'000)));
  Tracer tracer;
  Network network(scenario, tracer);
  const auto stored = [&] { return network.gateway(Side::kB).engine().peers()[0].bytes_stored; };
  network.run_for(Duration::seconds(12));
  EXPECT_GT(stored(), 10'000'000U);
  network.run_for(Duration::seconds(40));
  // Four times 6 Mbit/s for a round trip and a feedback interval.
  EXPECT_LT(stored(), 2'500'000U);
  EXPECT_GT(stored(), 500'000U);
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(200)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
}

// The client's program hangs, and its host answers every probe of its closed window. The server has
// its acknowledgments and has closed. Only the gateway can tell whether the host vanishes, too.
TEST(Memory, AProgramThatHangsIsWaitedForUntilItsHostGoes) {
  Scenario scenario = make_lab(24, {});
  scenario.vanishings.push_back({Side::kA, 0, Instant() + Duration::seconds(1'000)});
  for (Station& station : scenario.stations) {
    station.limits.half_close_timeout = Duration::seconds(60);
  }
  Plan hangs = sender(1);
  hangs.dead_after = 1'000;
  add_flow(scenario, Side::kA, hangs, sender(3'000'000));
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::seconds(40));
  EXPECT_TRUE(network.flow(0).server.saw_end && network.flow(0).server.sent_all);
  EXPECT_GT(network.gateway(Side::kA).engine().status(network.loop().now()).arena_used, 0U);
  network.run_for(Duration::seconds(900));
  EXPECT_FALSE(network.flow(0).client.ended);
  ASSERT_TRUE(network.run_until_drained(Instant() + Duration::seconds(1'000 + 60 + 70)));
  EXPECT_EQ(network.gateway(Side::kA).engine().counters()[gateway::Counter::kFlowsResetTimeout],
            1U);
}

}  // namespace
}  // namespace satrelay::sim::memory_test
