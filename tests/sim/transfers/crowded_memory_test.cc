// Many flows in little memory. Each flow makes progress, however much the others hold.
#include <gtest/gtest.h>

#include <cstdint>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::crowded_memory_test {
namespace {

using gateway::Counter;

Scenario crowded(std::uint64_t seed, ByteCount memory, BitRate rate) {
  LinkSpec link;
  link.rate = rate;
  link.one_way_delay = Duration::milliseconds(275);
  link.loss = 0.01;
  Scenario scenario = make_lab(seed, link, 4);
  for (Station& station : scenario.stations) {
    station.limits.memory = memory;
    station.limits.flows = 4'096;
    for (HostSpec& host : station.hosts) {
      host.tcp.send_limit = 16'384;
      host.tcp.receive_limit = 4'096;
      host.tcp.window_scale = 0;
    }
  }
  return scenario;
}

void add_to_crowd(Scenario& scenario, std::size_t i, const Plan& client, const Plan& server) {
  FlowSpec& flow = add_flow(scenario, i % 2 == 0 ? Side::kA : Side::kB, client, server);
  flow.client_host = flow.server_host = i % 4;
  flow.start += Duration::milliseconds(static_cast<std::int64_t>(10 * i));
}

// Two of three flows have slow readers that want more than their part of the memory. The other
// flows have typists.
void add_slow_readers_and_typists(Scenario& scenario, std::size_t flows) {
  for (std::size_t i = 0; i < flows; ++i) {
    const bool types = i % 3 == 0;
    Plan reader = requester(100);
    reader.read_pause = Duration::seconds(30);
    add_to_crowd(scenario, i,
                 types ? typist(60, 2, Duration::milliseconds(200))
                       : slow(reader, BitRate::bits_per_second(8'000), reader.read_pause),
                 types ? receiver() : responder(100, 12'000));
  }
}

void expect_all_end_well(const Scenario& scenario) {
  Tracer tracer;
  Network network(scenario, tracer);
  for (const std::string& broken : run_and_check(network)) ADD_FAILURE() << broken;
}

TEST(CrowdedMemory, SevenHundredFiftyFlowsInFourMebibytes) {
  Scenario scenario = crowded(31, ByteCount(4U << 20), BitRate::bits_per_second(4'000'000));
  add_slow_readers_and_typists(scenario, 750);
  expect_all_end_well(scenario);
}

TEST(CrowdedMemory, ThreeThousandFourHundredFlowsInSixteen) {
  Scenario scenario = crowded(32, ByteCount(16U << 20), BitRate::bits_per_second(20'000'000));
  add_slow_readers_and_typists(scenario, 3'400);
  expect_all_end_well(scenario);
}

// The gateway relays as many flows at once as its memory serves. It bridges further flows, and
// counts them.
TEST(CrowdedMemory, AsManyFlowsAreRelayedAsTheMemoryServes) {
  constexpr std::size_t kServed = (4U << 20) / 4'096;
  Scenario scenario = crowded(33, ByteCount(4U << 20), BitRate::bits_per_second(4'000'000));
  for (std::size_t i = 0; i < 2 * kServed; ++i) {
    add_to_crowd(scenario, 2 * i, typist(4, 1, Duration::seconds(20)), receiver());
  }
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::seconds(55));
  const std::size_t relayed = network.gateway(Side::kA).engine().flow_count();
  EXPECT_GT(relayed, kServed * 3 / 4);
  EXPECT_LE(relayed, kServed);
  EXPECT_GT(network.counted(Counter::kBridgedMemoryLow), 0U);
  EXPECT_EQ(network.counted(Counter::kFlowsResetNoResources), 0U);
  network.run_until_flows_over(Instant() + Duration::seconds(1'000));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
}

// Hosts that read nothing hold all they can. Hosts that read get the rest, however late they come.
TEST(CrowdedMemory, ReadersComeAfterThoseThatReadNothing) {
  constexpr std::size_t kHanging = 600, kReading = 40;
  Scenario scenario = crowded(34, ByteCount(4U << 20), BitRate::bits_per_second(4'000'000));
  Plan hangs = receiver();
  hangs.dead_after = 0;
  for (std::size_t i = 0; i < kHanging; ++i) add_to_crowd(scenario, i, sender(1'000'000), hangs);
  for (std::size_t i = 0; i < kReading; ++i) {
    add_to_crowd(scenario, 2'000 + i, requester(100), responder(100, 20'000));
  }
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::seconds(150));
  for (std::size_t i = kHanging; i < kHanging + kReading; ++i) {
    EXPECT_TRUE(network.flow(i).client.saw_end)
        << i << ": " << network.flow(i).client.received << " of 20000";
  }
}

}  // namespace
}  // namespace satrelay::sim::crowded_memory_test
