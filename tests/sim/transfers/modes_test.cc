// How hosts see each mode of a rule, and the cost of the mode.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"

namespace satrelay::sim::modes_test {
namespace {

using config::AckMode;
using config::CloseMode;
using config::FlowModes;
using config::HandshakeMode;
using config::WindowMode;

constexpr FlowModes kLocal;
constexpr FlowModes kRemote{.handshake = HandshakeMode::kRemote};
constexpr FlowModes kEndToEnd{.handshake = HandshakeMode::kRemote, .ack = AckMode::kEndToEnd};
constexpr FlowModes kConfirmed{.close = CloseMode::kConfirmed};
constexpr FlowModes kMirror{.window = WindowMode::kMirror};
constexpr FlowModes kAll{HandshakeMode::kRemote, AckMode::kEndToEnd, CloseMode::kConfirmed,
                         WindowMode::kMirror};

constexpr double kRoundTrip = 0.55;

Scenario lab(const FlowModes& modes, double loss = 0) {
  Scenario scenario = make_lab(1, {.loss = loss});
  config::Rule rule;
  rule.modes = modes;
  scenario.rules = {rule};
  return scenario;
}

double seconds_since_start(const Outcome& of, Instant when) {
  return (when - of.started_at).to_seconds();
}

// A client that waits for a silent server, and sends a keep-alive every ten seconds.
Scenario idle_client() {
  Scenario scenario = lab(kLocal);
  Plan client = requester(100);
  client.keep_alive = Duration::seconds(10);
  Plan server = slow(responder(100, 1'000), BitRate(), Duration::seconds(100));
  add_flow(scenario, Side::kA, client, server);
  return scenario;
}

// The client counts unanswered keep-alives by its own rules, and ends as late as over a bridge.
TEST(KeepAlives, CrossTheLinkAndFindADeadHost) {
  double ended[2] = {};
  for (const bool gateways : {false, true}) {
    Scenario scenario = idle_client();
    scenario.gateways_present = gateways;
    scenario.vanishings.push_back({Side::kB, 0, Instant() + Duration::seconds(25)});
    Tracer tracer;
    Network network(scenario, tracer);
    run_and_check(network);
    const Outcome& client = network.flow(0).client;
    EXPECT_EQ(client.reason, tcp::CloseReason::kTimeout);
    ended[gateways] = seconds_since_start(client, client.ended_at);
    if (!gateways) continue;
    EXPECT_GT(network.counted(gateway::Counter::kQuestionsWithheld), 0U);
    EXPECT_EQ(network.counted(gateway::Counter::kFlowsResetTimeout), 0U);
  }
  std::printf("  a dead server is found after %.1f s, without gateways after %.1f s\n", ended[1],
              ended[0]);
  EXPECT_LT(ended[1], ended[0] + 5);
  EXPECT_GT(ended[1], ended[0] - 2) << "the handshakes differ by two round trips";
}

// The switch of the server's LAN boots, and the client keeps asking.
TEST(KeepAlives, EndNothingWhileTheServersLanIsAway) {
  constexpr Duration kAway = Duration::seconds(100);
  Scenario scenario = lab(kLocal);
  Plan client = requester(100);
  client.keep_alive = Duration::seconds(10);
  client.forgives = true;
  const Plan server = slow(responder(100, 1'000), BitRate(), Duration::seconds(200));
  add_flow(scenario, Side::kA, client, server);
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::seconds(20));
  network.lan(Side::kB).set_outage(true);
  network.run_for(kAway);
  EXPECT_FALSE(network.flow(0).client.ended);
  network.lan(Side::kB).set_outage(false);
  for (const std::string& broken : run_and_check(network)) ADD_FAILURE() << broken;
  EXPECT_EQ(network.flow(0).client.received, 1'000U);
  EXPECT_GT(network.counted(gateway::Counter::kQuestionsWithheld), 5U);
}

// The hosts of a thousand connections send a keep-alive each second, beside a download. On the
// slower link their questions exceed the rate that all reports may take, so the near gateway
// answers some itself.
class KeepAlivesOfAThousand : public testing::TestWithParam<std::uint64_t> {};

TEST_P(KeepAlivesOfAThousand, HarmNobody) {
  constexpr std::size_t kFlows = 1'000, kHosts = 10;
  const std::uint64_t bytes = GetParam();  // As many bytes as the link carries bits a second.
  const bool is_slow = bytes < 10'000'000;
  double seconds[2] = {};
  for (const bool ask : {false, true}) {
    LinkSpec link;
    link.rate = BitRate::bits_per_second(bytes);
    Scenario scenario = make_lab(3, link, kHosts + 1);
    Plan client = requester(100);
    client.forgives = true;
    if (ask) client.keep_alive = Duration::seconds(1);
    const Plan server = slow(responder(100, 1'000), BitRate(), Duration::seconds(40));
    for (std::size_t i = 0; i < kFlows; ++i) {
      FlowSpec& flow = add_flow(scenario, Side::kA, client, server);
      flow.client_host = flow.server_host = i % kHosts;
    }
    FlowSpec& download = add_flow(scenario, Side::kA, requester(100), responder(100, bytes));
    download.client_host = download.server_host = kHosts;
    download.start = Instant() + Duration::seconds(15);
    Tracer tracer;
    Network network(scenario, tracer);
    EXPECT_TRUE(run_and_check(network).empty());
    const Outcome& outcome = network.flow(kFlows).client;
    EXPECT_EQ(outcome.received, bytes);
    seconds[ask] = seconds_since_start(outcome, outcome.ended_at);
    if (!ask) continue;
    const std::uint64_t asked = network.counted(gateway::Counter::kQuestionsAsked);
    std::printf(
        "  %.1f MB in %.1f s, beside none who ask %.1f s; %llu questions, %llu unanswered\n",
        static_cast<double>(bytes) / 1e6, seconds[1], seconds[0],
        static_cast<unsigned long long>(asked),
        static_cast<unsigned long long>(network.counted(gateway::Counter::kQuestionsUnanswered)));
    EXPECT_GT(asked, (is_slow ? 5 : 10) * kFlows);
    EXPECT_LT(asked, 45 * kFlows);
    EXPECT_EQ(network.counted(gateway::Counter::kQuestionsUnanswered) > 0, is_slow);
    EXPECT_EQ(network.counted(gateway::Counter::kQuestionsWithheld), 0U);
  }
  EXPECT_LT(seconds[1], 1.1 * seconds[0]);
}
INSTANTIATE_TEST_SUITE_P(Links, KeepAlivesOfAThousand, testing::Values(10'000'000, 512'000));

TEST(KeepAlives, DisturbNobodyWhoIsThere) {
  Scenario scenario = idle_client();
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(run_and_check(network).empty());
  EXPECT_EQ(network.flow(0).client.received, 1'000U);
}

// RFC 5382, REQ-5: a host that sends keep-alives as RFC 1122 allows keeps its silent connection.
TEST(KeepAlives, OfTwoHoursKeepASilentConnectionForADay) {
  constexpr Duration kDay = Duration::seconds(24 * 3600);
  for (const Side side : {Side::kA, Side::kB}) {
    Scenario scenario = lab(kLocal);
    Plan client = requester(100);
    Plan server = slow(responder(100, 1'000), BitRate(), kDay);
    client.patience = server.patience = kDay * 2;
    (side == Side::kA ? client : server).keep_alive = Duration::seconds(7'200);
    add_flow(scenario, Side::kA, client, server);
    Tracer tracer;
    Network network(scenario, tracer);
    network.run_for(kDay + Duration::seconds(60));
    const FlowResult& flow = network.flow(0);
    EXPECT_EQ(flow.client.received, 1'000U);
    EXPECT_TRUE(flow.client.saw_end && flow.server.saw_end);
    EXPECT_EQ(network.counted(gateway::Counter::kFlowsResetIdle), 0U);
  }
}

TEST(Modes, ARemoteHandshakeWaitsForTheServer) {
  for (const bool remote : {false, true}) {
    Scenario scenario = lab(remote ? kRemote : kLocal);
    add_flow(scenario, Side::kA, requester(100), responder(100, 100'000));
    Tracer tracer;
    Network network(scenario, tracer);
    EXPECT_TRUE(run_and_check(network).empty());
    const Outcome& client = network.flow(0).client;
    const double established = seconds_since_start(client, client.established_at);
    if (remote) {
      EXPECT_GT(established, kRoundTrip);
      EXPECT_LT(established, kRoundTrip + 0.02);
    } else {
      EXPECT_LT(established, 0.01);
    }
  }
}

TEST(Modes, ARemoteHandshakeRefusesWhatTheServerRefuses) {
  for (const bool remote : {false, true}) {
    Scenario scenario = lab(remote ? kRemote : kLocal);
    FlowSpec& flow = add_flow(scenario, Side::kA, requester(100), responder(100, 1000));
    flow.server = Server::kRefuses;
    Tracer tracer;
    Network network(scenario, tracer);
    EXPECT_TRUE(run_and_check(network).empty());
    const Outcome& client = network.flow(0).client;
    EXPECT_EQ(client.established, !remote);
    EXPECT_EQ(client.reason, remote ? tcp::CloseReason::kRefused : tcp::CloseReason::kResetByPeer);
    EXPECT_EQ(network.counted(gateway::Counter::kFlowsRefused), 2U);
  }
}

// As without gateways: the client times out, and no gateway sends RST.
TEST(Modes, ARemoteHandshakeIsSilentWhereNobodyAnswers) {
  Scenario scenario = lab(kRemote);
  add_flow(scenario, Side::kA, requester(100), responder(100, 1000));
  scenario.vanishings.push_back(
      {.side = Side::kB, .host = 0, .when = Instant::from_nanoseconds(1)});
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(1000)));
  const Outcome& client = network.flow(0).client;
  EXPECT_FALSE(client.established);
  EXPECT_EQ(client.reason, tcp::CloseReason::kTimeout);
  EXPECT_TRUE(network.run_until_drained(network.loop().now() + Duration::seconds(300)));
}

// A sender that gets its last acknowledgment knows that the far host has everything. Otherwise it
// would know only that the gateway has.
TEST(Modes, EndToEndAcknowledgmentsAreThoseOfTheFarHost) {
  constexpr std::uint64_t kBytes = 300'000;
  for (const double loss : {0.0, 0.02}) {
    for (const bool end_to_end : {false, true}) {
      Scenario scenario = lab(end_to_end ? kEndToEnd : kLocal, loss);
      // The server reads nothing for a while, and its window is smaller than the data.
      scenario.station(Side::kB).hosts[0].tcp.receive_limit = 100'000;
      add_flow(scenario, Side::kA, sender(kBytes),
               slow(receiver(), BitRate(), Duration::seconds(5)));
      Tracer tracer;
      Network network(scenario, tracer);
      bool early = false;
      for (int i = 0; i < 2'000 && !network.flow(0).over(); ++i) {
        network.run_for(Duration::milliseconds(10));
        const FlowResult& flow = network.flow(0);
        if (flow.client.sent_all && flow.server.received < kBytes) early = true;
      }
      EXPECT_TRUE(run_and_check(network).empty());
      EXPECT_EQ(network.flow(0).server.received, kBytes);
      EXPECT_EQ(early, !end_to_end) << loss;
      EXPECT_EQ(network.flow(0).client.ended, true);
    }
  }
}

TEST(Modes, AConfirmedCloseWaitsForTheFarHost) {
  constexpr std::uint64_t kBytes = 2'000'000;
  for (const bool confirmed : {false, true}) {
    Scenario scenario = lab(confirmed ? kConfirmed : kLocal, 0.01);
    add_flow(scenario, Side::kA, sender(kBytes), receiver());
    add_flow(scenario, Side::kB, sender(kBytes), receiver());
    Tracer tracer;
    Network network(scenario, tracer);
    bool early = false;
    for (int i = 0; i < 3'000 && !(network.flow(0).over() && network.flow(1).over()); ++i) {
      network.run_for(Duration::milliseconds(10));
      for (std::size_t f = 0; f < 2; ++f) {
        const FlowResult& flow = network.flow(f);
        if (flow.client.sent_all && !flow.server.saw_end) early = true;
      }
    }
    EXPECT_TRUE(run_and_check(network).empty());
    EXPECT_EQ(early, !confirmed);
  }
}

TEST(Modes, AMirroredWindowIsThatOfTheFarHost) {
  constexpr std::uint64_t kServersWindow = 40'000;
  for (const bool mirrored : {false, true}) {
    Scenario scenario = lab(mirrored ? kMirror : kLocal);
    scenario.station(Side::kB).hosts[0].tcp.receive_limit = kServersWindow;
    // The rate is low enough that the window stays open.
    add_flow(scenario, Side::kA, typist(300'000, 1'000, Duration::milliseconds(10)), receiver());
    Tracer tracer;
    Network network(scenario, tracer);
    network.run_for(Duration::milliseconds(6'500));
    const auto flows = network.gateway(Side::kA).engine().flows(0, 1, network.loop().now());
    ASSERT_EQ(flows.size(), 1U);
    if (mirrored) {
      EXPECT_LE(flows[0].lan_window, kServersWindow + 4'096);
    } else {
      EXPECT_GT(flows[0].lan_window, kServersWindow + 4'096);
    }
    EXPECT_TRUE(run_and_check(network).empty());
  }
}

// Both directions of every mode with loss. Everything is delivered, and all memory is freed.
TEST(Modes, EveryModeDeliversEverything) {
  for (const FlowModes& modes : {kLocal, kRemote, kEndToEnd, kConfirmed, kMirror, kAll}) {
    for (const double loss : {0.0, 0.03}) {
      Scenario scenario = lab(modes, loss);
      add_flow(scenario, Side::kA, sender(200'000), receiver());
      add_flow(scenario, Side::kB, requester(500), responder(500, 300'000));
      add_flow(scenario, Side::kA, sender(2'000), half_close_user(50'000));
      Tracer tracer;
      Network network(scenario, tracer);
      const auto broken = run_and_check(network);
      EXPECT_TRUE(broken.empty()) << broken.front();
    }
  }
}

// The host has not been answered yet, so its connection can be bridged instead of refused.
TEST(Modes, ARemoteHandshakeThatFindsNoRoomAtTheFarGatewayIsBridged) {
  Scenario scenario = lab(kRemote);
  scenario.station(Side::kB).limits.flows = 1;
  scenario.station(Side::kB).limits.half_open = 1;
  add_flow(scenario, Side::kA, requester(100), responder(100, 100)).server_plan.patience =
      Duration::seconds(2'000);
  scenario.flows[0].client_plan.send_after_end = true;  // Both hosts wait, so the flow stays open.
  FlowSpec& late = add_flow(scenario, Side::kA, requester(100), responder(100, 100'000));
  late.start = scenario.flows[0].start + Duration::seconds(2);
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::seconds(60));
  const Outcome& client = network.flow(1).client;
  EXPECT_TRUE(network.flow(0).client.established);
  EXPECT_EQ(client.received, 100'000U);
  EXPECT_TRUE(client.saw_end && network.flow(1).server.saw_end);
  // Established with the first repetition of its SYN.
  EXPECT_LT(seconds_since_start(client, client.established_at), 1 + kRoundTrip + 0.1);
  EXPECT_EQ(network.gateway(Side::kA).engine().counters()[gateway::Counter::kFlowsResetNoResources],
            1U);
}

// The figures of docs/measurements.md, "The modes".
TEST(Modes, CostOfEach) {
  struct Row {
    const char* name;  // The beginning of the mode's row.
    FlowModes modes;
  };
  for (const Row& row :
       {Row{"all local", kLocal}, Row{"`handshake: remote` |", kRemote},
        Row{"`close: confirmed`", kConfirmed}, Row{"`window: mirror`", kMirror},
        Row{"`handshake: remote`, `ack: end-to-end`", kEndToEnd}, Row{"all four", kAll}}) {
    std::printf("%-36s", row.name);
    for (const std::uint64_t bytes : {100'000U, 3'000'000U}) {
      Scenario scenario = lab(row.modes);
      add_flow(scenario, Side::kA, sender(bytes), receiver());
      Tracer tracer;
      Network network(scenario, tracer);
      EXPECT_TRUE(run_and_check(network).empty());
      const FlowResult& flow = network.flow(0);
      const double seconds = (flow.server.saw_end_at - flow.client.started_at).to_seconds();
      std::printf("  %4.1f MB in %.3f s", static_cast<double>(bytes) / 1e6, seconds);
      expect_documented("The modes", row.name, bytes == 100'000 ? 1 : 2, {seconds});
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace satrelay::sim::modes_test
