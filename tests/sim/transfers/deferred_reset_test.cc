// Hosts reset their connection right after their last bytes, over links of all kinds. All bytes
// arrive, and then the reset.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"

namespace satrelay::sim::deferred_reset_test {
namespace {

constexpr std::uint64_t kRequest = 1'000;
constexpr int kFlows = 20;

// A server that resets right after its answer. Kernels do so if the program has not read the
// request.
Plan server_with(std::uint64_t answer) {
  Plan plan = responder(kRequest, answer);
  plan.finish = Finish::kAbortWhenSent;
  return plan;
}

struct Word {
  Side client = Side::kA;
  Side speaker = Side::kB;
  std::uint64_t bytes = 0;
};

void add(Scenario& scenario, const Word& word, Duration after) {
  const bool by_client = word.speaker == word.client;
  FlowSpec& flow = add_flow(scenario, word.client,
                            by_client ? resetter_after_sending(word.bytes) : requester(kRequest),
                            by_client ? receiver() : server_with(word.bytes));
  flow.start = flow.start + after;
}

// Expects all bytes and then the reset of the flows from `first` on.
void expect_whole(const Network& network, std::size_t first, const Word& word) {
  for (std::size_t i = first; i < network.flow_count(); ++i) {
    const FlowResult& flow = network.flow(i);
    const bool by_client = word.speaker == word.client;
    const Outcome& listener = by_client ? flow.server : flow.client;
    EXPECT_EQ(listener.received, word.bytes) << i;
    EXPECT_EQ(listener.reason, tcp::CloseReason::kResetByPeer) << i;
    EXPECT_FALSE(listener.saw_end) << i;
  }
}

void run_all(Scenario& scenario, const Word& word, Duration apart) {
  for (int i = 0; i < kFlows; ++i) add(scenario, word, apart * i);
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(run_and_check(network).empty());
  expect_whole(network, 0, word);
  EXPECT_EQ(network.counted(gateway::Counter::kResetsOverdue), 0U);
}

TEST(DeferredReset, OfServersArrives) {
  for (const std::uint64_t bytes : {60U, 12'000U, 100'000U}) {
    Scenario scenario = make_lab(1, {});
    run_all(scenario, {.bytes = bytes}, Duration::milliseconds(300));
  }
}

TEST(DeferredReset, OfClientsArrives) {
  for (const std::uint64_t bytes : {500U, 10'000U, 100'000U}) {
    Scenario scenario = make_lab(2, {});
    run_all(scenario, {.speaker = Side::kA, .bytes = bytes}, Duration::milliseconds(300));
  }
}

TEST(DeferredReset, ArrivesOverALinkThatLosesPackets) {
  for (const Side speaker : {Side::kA, Side::kB}) {
    Scenario scenario = make_lab(3, {.loss = 0.05});
    run_all(scenario, {.speaker = speaker, .bytes = 12'000}, Duration::milliseconds(300));
  }
}

TEST(DeferredReset, ArrivesOverASlowLink) {
  for (const Side speaker : {Side::kA, Side::kB}) {
    Scenario scenario = make_lab(4, {.rate = BitRate::bits_per_second(32'000)});
    run_all(scenario, {.speaker = speaker, .bytes = 10'000}, Duration::seconds(4));
  }
}

TEST(DeferredReset, ArrivesWhereTheClientWaitsForTheServer) {
  Scenario scenario = make_lab(5, {});
  config::Rule rule;
  rule.modes.handshake = config::HandshakeMode::kRemote;
  scenario.rules = {rule};
  run_all(scenario, {.bytes = 12'000}, Duration::milliseconds(300));
}

TEST(DeferredReset, ArrivesBesideADownload) {
  Scenario scenario = make_lab(6, {.rate = BitRate::bits_per_second(10'000'000)}, 2);
  FlowSpec& download = add_flow(scenario, Side::kA, requester(100), responder(100, 20'000'000));
  download.client_host = download.server_host = 1;
  const Word word{.bytes = 12'000};
  for (int i = 0; i < kFlows; ++i) {
    add(scenario, word, Duration::seconds(3) + Duration::milliseconds(300) * i);
  }
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(run_and_check(network).empty());
  expect_whole(network, 1, word);
}

// The client reads more slowly than the link carries. The far gateway keeps the bytes that the
// client has not taken yet.
TEST(DeferredReset, ArrivesAtAHostThatReadsSlowly) {
  Scenario scenario = make_lab(7, {});
  constexpr std::uint64_t kBytes = 1'000'000;
  add_flow(scenario, Side::kA, slow(requester(kRequest), BitRate::bits_per_second(400'000)),
           server_with(kBytes));
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(run_and_check(network).empty());
  // When the reset arrives, the program may no longer read bytes that its TCP has stored.
  EXPECT_EQ(network.flow(0).client.arrived, kBytes);
  EXPECT_EQ(network.flow(0).client.reason, tcp::CloseReason::kResetByPeer);
}

// The reset follows the bytes within the time that the LAN needs.
TEST(DeferredReset, IsFollowedByTheResetAtOnce) {
  Scenario scenario = make_lab(8, {});
  add(scenario, {.bytes = 12'000}, Duration::zero());
  scenario.flows[0].client_plan.record_arrivals = true;
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(run_and_check(network).empty());
  const Outcome& client = network.flow(0).client;
  ASSERT_FALSE(client.arrivals.empty());
  EXPECT_LT(client.ended_at - client.arrivals.back().when, Duration::milliseconds(60));
}

// Hosts reset with as much unread as their windows allow. Their bytes leave memory to hosts that go
// on.
TEST(DeferredReset, OfManyHostsLeavesRoomForOthers) {
  Scenario scenario = make_lab(9, {.rate = BitRate::bits_per_second(2'000'000)}, 2);
  for (const Side side : {Side::kA, Side::kB}) {
    scenario.station(side).limits.memory = ByteCount(8 << 20);
    scenario.station(side).limits.flows = 1'000;
  }
  for (int i = 0; i < 300; ++i) {
    add(scenario, {.speaker = Side::kA, .bytes = 60'000}, Duration::milliseconds(10) * i);
  }
  FlowSpec& late = add_flow(scenario, Side::kA, requester(100), responder(100, 10'000));
  late.client_host = late.server_host = 1;
  late.start = late.start + Duration::seconds(4);
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(run_and_check(network).empty());
  EXPECT_EQ(network.flow(300).client.received, 10'000U);
  EXPECT_LT((network.flow(300).client.ended_at - network.flow(300).client.started_at).to_seconds(),
            20);
}

// If a host has reset its connection, the flow gives its place to a new flow.
TEST(DeferredReset, GivesItsPlaceToWhoWantsOne) {
  Scenario scenario = make_lab(10, {.rate = BitRate::bits_per_second(64'000)}, 2);
  for (const Side side : {Side::kA, Side::kB}) scenario.station(side).limits.flows = 40;
  for (int i = 0; i < 30; ++i) {
    add(scenario, {.speaker = Side::kA, .bytes = 5'000}, Duration::milliseconds(10) * i);
  }
  for (int i = 0; i < 24; ++i) {
    FlowSpec& late = add_flow(scenario, Side::kA, requester(100), responder(100, 100));
    late.client_host = late.server_host = 1;
    late.start = late.start + Duration::seconds(2) + Duration::milliseconds(5) * i;
  }
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(run_and_check(network).empty());
  EXPECT_GT(network.counted(gateway::Counter::kResetsCutShort), 0U);
  EXPECT_EQ(network.counted(gateway::Counter::kFlowsResetForRoom), 0U);
}

}  // namespace
}  // namespace satrelay::sim::deferred_reset_test
