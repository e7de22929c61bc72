// Loads beyond a gateway's limits: SYN floods, readers that do not read, very many flows.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/random.h"
#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/network/tcp_frame.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/peers/forged_syn.h"

namespace satrelay::sim::overload_test {
namespace {

using gateway::Counter;

std::uint64_t received_by_servers(const Network& network, std::size_t first, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = first; i < first + count; ++i) sum += network.flow(i).server.received;
  return sum;
}

// A flood of SYNs from addresses that answer nothing.
class SynFlood : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kHalfOpen = 64;
  void start(std::uint64_t seed, std::size_t flows) {
    Scenario scenario = make_lab(seed, {}, 2);
    for (Station& station : scenario.stations) station.limits.half_open = kHalfOpen;
    for (std::size_t i = 0; i < flows; ++i) {
      add_flow(scenario, Side::kA, sender(1'600'000), receiver());
    }
    network_.emplace(scenario, tracer_);
    ASSERT_TRUE(network_->run_until_peers_alive(Instant() + Duration::seconds(10)));
    network_->satellite().on_frame([&](unsigned, ConstBytes frame) {
      if (parse_tcp_frame(frame)) ++tcp_on_satellite_;
    });
  }
  void flood(unsigned per_millisecond, Duration length) {
    const Instant end = network_->loop().now() + length;
    while (network_->loop().now() < end) {
      for (unsigned i = 0; i < per_millisecond; ++i) send_syn();
      network_->run_for(Duration::milliseconds(1));
    }
  }
  void send_syn() {
    SimHost& attacker = network_->host(Side::kA, 1);
    const OwnAddresses& server = network_->host(Side::kB, 0).spec().addresses;
    // The sources are in the prefix of the attacker's gateway (network_addresses.h). They belong to
    // no host, since a host would answer with RST.
    const FloodTarget target{.source_mac = attacker.spec().addresses.mac,
                             .mac = server.mac,
                             .address = server.v4,
                             .sources = *IpPrefix::parse("198.51.100.128/25")};
    std::byte frame[128];
    const std::size_t size = write_forged_syn(target, random_, frame);
    attacker.send_raw(ConstBytes(frame).first(size));
  }
  std::size_t open(const Plan& client, const Plan& server) {
    Scenario drawn = make_lab(900 + network_->flow_count(), {});
    FlowSpec flow = add_flow(drawn, Side::kA, client, server);
    flow.start = network_->loop().now();
    return network_->open(flow);
  }
  gateway::Gateway& engine(Side side) { return network_->gateway(side).engine(); }
  std::uint64_t count(Side side, Counter counter) { return engine(side).counters()[counter]; }
  Tracer tracer_;
  std::optional<Network> network_;
  Random random_{7};
  std::uint64_t tcp_on_satellite_ = 0;
};

TEST_F(SynFlood, TakesNoMoreThanItsTableAndNeverCrossesTheSatellite) {
  start(4, 0);
  flood(50, Duration::seconds(4));
  EXPECT_EQ(engine(Side::kA).status(network_->loop().now()).half_open, kHalfOpen);
  EXPECT_EQ(engine(Side::kA).flow_count(), kHalfOpen);
  EXPECT_EQ(tcp_on_satellite_, 0U);
  EXPECT_EQ(count(Side::kB, Counter::kFlowsFromPeer), 0U);
  // A few SYNs repeat a half-open connection, since there are only 2^23 addresses and ports.
  const std::uint64_t answered = count(Side::kA, Counter::kSynCookiesSent) + kHalfOpen;
  EXPECT_GT(answered, 199'990U);
  EXPECT_LE(answered, 200'000U);

  // The flood's connections time out, and the next connection is relayed.
  ASSERT_TRUE(network_->run_until_drained(network_->loop().now() + Duration::seconds(600)));
  EXPECT_EQ(count(Side::kA, Counter::kFlowsHandshakeTimeout), kHalfOpen);
  const std::size_t index = open(requester(100), responder(100, 10'000));
  network_->run_for(Duration::seconds(5));
  EXPECT_TRUE(network_->flow(index).client.saw_end);
  EXPECT_EQ(count(Side::kA, Counter::kFlowsEstablished), 1U);
}

TEST_F(SynFlood, AHundredTransfersGoOnAndNewConnectionsOpen) {
  start(5, 100);
  network_->run_for(Duration::seconds(10));
  const std::uint64_t before = received_by_servers(*network_, 0, 100);
  network_->run_for(Duration::seconds(5));
  const std::uint64_t quiet = received_by_servers(*network_, 0, 100) - before;
  std::vector<std::size_t> fresh;
  const std::uint64_t at_start = received_by_servers(*network_, 0, 100);
  for (int i = 0; i < 10; ++i) {
    flood(100, Duration::milliseconds(500));
    fresh.push_back(open(requester(100), responder(100, 20'000)));
  }
  const std::uint64_t flooded = received_by_servers(*network_, 0, 100) - at_start;
  RecordProperty("percent", static_cast<int>(flooded * 100 / quiet));
  EXPECT_GT(flooded * 100, quiet * 98) << "the new connections take their share";
  flood(100, Duration::seconds(3));
  for (const std::size_t index : fresh) {
    EXPECT_TRUE(network_->flow(index).client.saw_end) << "flow " << index;
    EXPECT_TRUE(network_->flow(index).server.saw_end) << "flow " << index;
  }
  // The hundred transfers also had only so many SYNs answered at the same time. They are of one
  // host, which may have half of the half-open connections.
  EXPECT_EQ(count(Side::kA, Counter::kFlowsBySynCookie), fresh.size() + 100 - kHalfOpen / 2);
  EXPECT_EQ(tcp_on_satellite_, 0U);
  ASSERT_TRUE(network_->run_until_flows_over(network_->loop().now() + Duration::seconds(600)));
  for (const std::string& broken : check_flows(*network_)) ADD_FAILURE() << broken;
}

// The far programs of a thousand flows read nothing. Beside them run four flows with programs that
// read.
TEST(SlowReaders, LeaveTheOthersTheirRate) {
  constexpr std::size_t kReaders = 1'000;
  constexpr std::size_t kOthers = 4;
  Scenario scenario = make_lab(6, {}, 2);
  for (std::size_t i = 0; i < kOthers; ++i) {
    add_flow(scenario, Side::kA, sender(100'000'000), receiver());
  }
  for (std::size_t i = 0; i < kReaders; ++i) {
    Plan hangs = receiver();
    hangs.dead_after = 0;
    FlowSpec& flow = add_flow(scenario, Side::kA, sender(10'000'000), hangs);
    flow.client_host = flow.server_host = 1;
    flow.start += Duration::seconds(4) + Duration::milliseconds(static_cast<std::int64_t>(i));
  }
  Tracer tracer;
  Network network(scenario, tracer);
  const auto mbits = [&](Duration over) {
    const std::uint64_t before = received_by_servers(network, 0, kOthers);
    network.run_for(over);
    const std::uint64_t bytes = received_by_servers(network, 0, kOthers) - before;
    return static_cast<double>(bytes) * 8e-6 / over.to_seconds();
  };
  network.run_for(Duration::seconds(6));
  const double alone = mbits(Duration::seconds(3));
  // The readers' streams fill their own memory, 64 KiB each. Their host gets half of the link for
  // that.
  EXPECT_GT(mbits(Duration::seconds(18)), 0.48 * alone);
  network.run_for(Duration::seconds(16));
  const double beside = mbits(Duration::seconds(5));
  EXPECT_GT(beside, 0.99 * alone) << alone << " alone";
  EXPECT_EQ(network.gateway(Side::kB).engine().flow_count(), kReaders + kOthers);
  for (const Side side : {Side::kA, Side::kB}) {
    const gateway::Status status = network.gateway(side).engine().status(network.loop().now());
    EXPECT_LT(status.arena_used, status.arena_bytes / 4);
  }
}

// One flow after the other reads as fast as the link carries, and then stops.
TEST(SlowReaders, ThatReadFastBeforeDoNotStopTheNext) {
  constexpr std::size_t kReaders = 6;
  Scenario scenario = make_lab(8, {});
  for (std::size_t i = 0; i < kReaders; ++i) {
    Plan stops = receiver();
    stops.dead_after = 15'000'000;
    FlowSpec& flow = add_flow(scenario, Side::kA, sender(100'000'000), stops);
    flow.start += Duration::seconds(8) * static_cast<std::int64_t>(i);
  }
  FlowSpec& last = add_flow(scenario, Side::kA, sender(5'000'000), receiver());
  last.start += Duration::seconds(8) * static_cast<std::int64_t>(kReaders);
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::seconds(5 + 8 * kReaders + 15));
  // All stopped flows together share an eighth of the lane. This flow gets its own part.
  EXPECT_TRUE(network.flow(kReaders).server.saw_end) << network.flow(kReaders).server.received;
}

// Connections that send next to nothing: one byte, and another a quarter of an hour later.
TEST(IdleFlows, TwentyThousandCostNothingAndStand) {
  constexpr std::size_t kHosts = 4;
  constexpr std::size_t kFlows = 20'000;
  constexpr Duration kOpening = Duration::seconds(40);
  constexpr Duration kSilence = Duration::seconds(900);
  Scenario scenario = make_lab(9, {}, kHosts);
  for (Station& station : scenario.stations) station.limits.flows = 32'768;
  for (std::size_t i = 0; i < kFlows; ++i) {
    FlowSpec& flow = add_flow(scenario, Side::kA, typist(2, 1, kSilence), receiver());
    flow.client_host = flow.server_host = i % kHosts;
    flow.start += kOpening * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(kFlows);
  }
  FlowSpec& busy = add_flow(scenario, Side::kA, sender(5'000'000), receiver());
  busy.start += Duration::seconds(120);
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(kOpening + Duration::seconds(40));
  EXPECT_EQ(received_by_servers(network, 0, kFlows), kFlows);
  const std::uint64_t runs = network.loop().runs();
  network.run_for(Duration::seconds(20));
  EXPECT_LT(network.loop().runs() - runs, 20 * 150U) << "of all actors";
  for (const Side side : {Side::kA, Side::kB}) {
    gateway::Gateway& engine = network.gateway(side).engine();
    EXPECT_EQ(engine.flow_count(), kFlows);
    EXPECT_EQ(engine.arena_use().blocks(), 0U) << "beside what each has to itself";
    EXPECT_EQ(engine.counters()[Counter::kBridgedTableFull], 0U);
  }
  network.run_for(Duration::seconds(30));
  const Outcome& served = network.flow(kFlows).server;
  ASSERT_TRUE(served.saw_end);
  EXPECT_LT(served.saw_end_at - served.started_at, Duration::seconds(3)) << "50 Mbit/s";
  ASSERT_TRUE(network.run_until_flows_over(network.loop().now() + Duration::seconds(1'500)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
}

}  // namespace
}  // namespace satrelay::sim::overload_test
