// Delays that a person at a keyboard notices, and a slow reader.
#include <gtest/gtest.h>

#include <algorithm>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::interactive_test {
namespace {

// The longest time that a byte took from the typist's program to the far program.
Duration longest_way(const FlowResult& flow, const Plan& typist_plan) {
  Duration longest = Duration::zero();
  Instant typed = flow.client.established_at;
  std::uint64_t sent = 0;
  for (const Arrival& arrival : flow.server.arrivals) {
    while (sent < arrival.received) {
      longest = std::max(longest, arrival.when - typed);
      sent += typist_plan.chunk;
      typed += typist_plan.interval;
    }
  }
  return longest;
}

TEST(Interactive, AKeystrokeOverAnIdleLinkTakesOneWayAndLittleMore) {
  Scenario scenario = make_lab(1, {});
  const Plan keys = typist(100, 1, Duration::milliseconds(150));
  Plan reader = receiver();
  reader.record_arrivals = true;
  add_flow(scenario, Side::kA, keys, reader);
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(120)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  ASSERT_EQ(network.flow(0).server.received, 100U);
  const Duration longest = longest_way(network.flow(0), keys);
  EXPECT_LT(longest.to_microseconds(), 275'000 + 5'000);
  EXPECT_GE(longest.to_microseconds(), 275'000) << "faster than light: the measurement is wrong";
}

TEST(Interactive, AKeystrokeDoesNotWaitBehindABulkTransfer) {
  Scenario scenario = make_lab(2, {}, 2);
  add_flow(scenario, Side::kA, sender(30'000'000), receiver());
  const Plan keys = typist(30, 1, Duration::milliseconds(100));
  Plan reader = receiver();
  reader.record_arrivals = true;
  FlowSpec& typing = add_flow(scenario, Side::kA, keys, reader);
  typing.client_host = typing.server_host = 1;
  typing.server_port = 23;
  typing.start = Instant() + Duration::seconds(7);
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(120)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  ASSERT_EQ(network.flow(1).server.received, 30U);
  // The typing must have happened while the bulk transfer ran.
  ASSERT_LT(network.flow(1).server.saw_end_at, network.flow(0).server.saw_end_at);
  EXPECT_LT(longest_way(network.flow(1), keys).to_microseconds(), 275'000 + 25'000);
}

TEST(Interactive, AServerThatSpeaksFirstIsHeardAfterOneRoundTrip) {
  Scenario scenario = make_lab(3, {});
  Plan client = sender(10);
  client.send_after = 50;
  add_flow(scenario, Side::kA, client, greeter(50));
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(60)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  const Outcome& o = network.flow(0).client;
  EXPECT_LT((o.first_byte_at - o.started_at).to_milliseconds(), 550 + 20);
}

TEST(Interactive, ASlowReaderClosesTheSendersWindowAndMemoryStaysBounded) {
  constexpr std::uint64_t kFlowMemory = 2 << 20, kHostWindow = 256 << 10;
  Scenario scenario = make_lab(4, {});
  for (Station& station : scenario.stations) {
    station.limits.flow_memory = ByteCount(kFlowMemory);
    station.limits.host_window = ByteCount(kHostWindow);
    station.hosts[0].tcp.send_limit = 64 << 10;
    station.hosts[0].tcp.receive_limit = 64 << 10;
  }
  add_flow(scenario, Side::kA, sender(12'000'000),
           slow(receiver(), BitRate::bits_per_second(2'000'000)));
  Tracer tracer;
  Network network(scenario, tracer);
  std::uint64_t most[2] = {0, 0};
  std::uint64_t written_early = 0;
  for (int step = 0; step < 100; ++step) {
    network.run_for(Duration::milliseconds(200));
    for (const Side side : {Side::kA, Side::kB}) {
      auto& peak = most[static_cast<std::size_t>(side)];
      peak = std::max(peak, network.gateway(side).engine().status(network.loop().now()).arena_used);
    }
    written_early = network.flow(0).client.written;
  }
  // In 15 s at 2 Mbit/s the reader takes 3.75 MB. Two gateways and two hosts between the programs
  // hold the rest.
  EXPECT_LT(written_early, 3'750'000 + 2 * (kFlowMemory + kHostWindow) + (256U << 10));
  EXPECT_GT(written_early, 3'750'000U);
  // Each gateway holds a stream's memory and a window's, in blocks that may not be full.
  for (const std::uint64_t peak : most) {
    EXPECT_LE(peak, kFlowMemory + 2 * kHostWindow + (64U << 10));
  }
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(300)));
  ASSERT_TRUE(network.run_until_drained(network.loop().now() + Duration::seconds(300)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  for (const std::string& broken : check_memory(network)) ADD_FAILURE() << broken;
}

TEST(Interactive, HalfCloseKeepsTheOtherDirectionOpen) {
  Scenario scenario = make_lab(5, {});
  add_flow(scenario, Side::kA, sender(50'000), half_close_user(3'000'000));
  add_flow(scenario, Side::kB, sender(0), half_close_user(100'000));
  Tracer tracer;
  Network network(scenario, tracer);
  for (const std::string& broken : run_and_check(network)) ADD_FAILURE() << broken;
  EXPECT_EQ(network.bridged_tcp(), 0U);
}

TEST(Interactive, ARefusedPortIsARefusalForTheClient) {
  Scenario scenario = make_lab(6, {});
  add_flow(scenario, Side::kA, requester(100), responder(100, 100)).server = Server::kRefuses;
  Tracer tracer;
  Network network(scenario, tracer);
  for (const std::string& broken : run_and_check(network)) ADD_FAILURE() << broken;
  for (const Side side : {Side::kA, Side::kB}) {
    EXPECT_EQ(network.gateway(side).engine().counters()[gateway::Counter::kFlowsRefused], 1U);
  }
  const Outcome& o = network.flow(0).client;
  EXPECT_LT((o.ended_at - o.started_at).to_milliseconds(), 550 + 20);
}

}  // namespace
}  // namespace satrelay::sim::interactive_test
