// The events that an operator gets while a peer, and the link to it, come and go.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pep/stp/connection/security.h"
#include "relay/ops/events/watch.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::events_test {
namespace {

using Names = std::vector<std::string>;

class Events : public ::testing::Test {
 protected:
  Events() {
    LinkSpec link;
    link.one_way_delay = Duration::milliseconds(275);
    scenario = make_lab(1, link);
  }
  void start() {
    network.emplace(scenario, tracer);
    run_for(Duration::seconds(8));
  }
  // Looks at the gateway ten times a second, as gateway A's host does.
  void run_for(Duration time) {
    const Instant end = network->loop().now() + time;
    while (network->loop().now() < end) {
      network->run_for(Duration::milliseconds(100));
      const Instant now = network->loop().now();
      const gateway::Gateway& engine = network->gateway(Side::kA).engine();
      ops::Snapshot snapshot;
      snapshot.status = engine.status(now);
      snapshot.peers = engine.peers();
      snapshot.counters = engine.counters();
      watch.look(snapshot, records::RecordsReport(), Duration::zero(), now);
    }
  }
  Names take() { return std::exchange(told, {}); }

  Scenario scenario;
  Tracer tracer;
  std::optional<Network> network;
  Names told;
  ops::Watch watch{[this](const ops::Event& event) {
    told.emplace_back(ops::describe(event.kind).name);
    last_detail = event.detail;
    if (event.kind == ops::EventKind::kCapacityFound) found.push_back(event.detail);
  }};
  std::string last_detail;
  Names found;
};

TEST_F(Events, APeerThatIsKilledIsMissedGivenUpAndGreetedAnew) {
  start();
  EXPECT_EQ(take(), Names{"peer_alive"});
  const auto rtt = network->gateway(Side::kA).engine().peers()[0].rtt;
  EXPECT_NEAR(rtt.value_or(Duration::zero()).to_seconds(), 0.55, 0.01);
  run_for(Duration::seconds(30));
  EXPECT_EQ(take(), Names{}) << "nothing has changed";
  network->gateway(Side::kB).kill();
  run_for(Duration::seconds(5));
  EXPECT_EQ(take(), Names{"peer_silent"});
  run_for(Duration::seconds(905));
  EXPECT_EQ(take(), Names{"peer_lost"});
  network->gateway(Side::kB).start(2'000'000'000'000'000'000U);
  run_for(Duration::seconds(5));
  EXPECT_EQ(take(), (Names{"peer_restarted", "peer_alive"}));
}

TEST_F(Events, AnOutageIsOverAfterATime) {
  start();
  take();
  network->satellite().from_b().set_outage(true);
  run_for(Duration::seconds(20));
  network->satellite().from_b().set_outage(false);
  run_for(Duration::seconds(5));
  EXPECT_EQ(take(), (Names{"peer_silent", "peer_returned"}));
  EXPECT_EQ(last_detail.substr(0, 6), "after ");
}

TEST_F(Events, APeerThatStopsInOrder) {
  start();
  take();
  network->gateway(Side::kB).shut_down();
  run_for(Duration::seconds(3));
  EXPECT_EQ(take(), Names{"peer_closed"});
}

// The link carries a quarter of the configured rate, and the guard of the rate notices.
TEST_F(Events, ALinkThatCarriesLessThanConfigured) {
  add_flow(scenario, Side::kA, requester(40'000'000), receiver());
  start();
  EXPECT_EQ(take(), Names{"peer_alive"});
  auto& way = network->satellite().from_a();
  way.set_rate(way.rate().scaled(1, 4));
  run_for(Duration::seconds(20));
  const Names names = take();
  EXPECT_EQ(std::ranges::count(names, "rate_cut"), 1) << testing::PrintToString(names);
  EXPECT_NE(last_detail.find("rate control found a lower rate"), std::string::npos) << last_detail;
}

// For "49.6 Mbit/s, ...": 49.6
double megabits(const std::string& detail) {
  EXPECT_NE(detail.find(" Mbit/s"), std::string::npos) << detail;
  return std::stod(detail);
}

// The gateways know nothing about the link. The found rate is the share that frames take of it.
// After the step there is another event, with the rate that was found before.
TEST_F(Events, ALinkWhoseCapacityIsFound) {
  constexpr double kAtFirst = 50, kLater = 20, kAccuracy = 0.02;
  const auto megabit = [](double n) {
    return BitRate::bits_per_second(static_cast<std::uint64_t>(n * 1e6));
  };
  scenario.control.controller = config::Controller::kFind;
  scenario.a_to_b.rate = megabit(kAtFirst);
  add_flow(scenario, Side::kA, requester(400'000'000), receiver());
  start();
  EXPECT_EQ(take(), Names{"peer_alive"}) << "the flow has just begun";
  run_for(Duration::seconds(12));
  ASSERT_EQ(found.size(), 1U) << testing::PrintToString(found);
  EXPECT_NEAR(megabits(found[0]), kAtFirst, kAtFirst * kAccuracy);
  network->satellite().from_a().set_rate(megabit(kLater));
  run_for(Duration::seconds(20));
  ASSERT_EQ(found.size(), 2U) << testing::PrintToString(found);
  EXPECT_NEAR(megabits(found[1]), kLater, kLater * kAccuracy);
  EXPECT_TRUE(found[1].ends_with(", " + found[0] + " before")) << found[1];
}

// A configured rate is never reported as found, however much is sent.
TEST_F(Events, ALinkWhoseCapacityIsKnown) {
  add_flow(scenario, Side::kA, requester(40'000'000), receiver());
  start();
  run_for(Duration::seconds(12));
  EXPECT_EQ(found, Names{});
}

TEST_F(Events, APeerThatWasNeverThere) {
  network.emplace(scenario, tracer);
  network->gateway(Side::kB).kill();
  run_for(Duration::seconds(30));
  EXPECT_EQ(take(), Names{"peer_unheard"});
}

TEST_F(Events, WhatTheFarGatewaySaysThatTheLinkCarries) {
  start();
  take();
  const auto receives = [&](BitRate rate) {
    gateway::Gateway& far = network->gateway(Side::kB).engine();
    EXPECT_EQ(
        far.rates().set_capacity("sat", gateway::LinkWay::kReceive, rate, network->loop().now()),
        gateway::Gateway::CapacityResult::kSet);
    network->gateway(Side::kB).wake();
    run_for(Duration::seconds(15));
  };
  receives(BitRate::bits_per_second(20'000'000));
  EXPECT_EQ(take(), (Names{"rate_lowered", "rate_cut", "capacity_told"}));
  EXPECT_EQ(last_detail, "20.0 Mbit/s");
  receives(BitRate::bits_per_second(10'000'000));
  EXPECT_EQ(take(), (Names{"rate_lowered", "capacity_told"}));
  EXPECT_EQ(last_detail, "10.0 Mbit/s, 20.0 Mbit/s before");
  receives(BitRate());
  EXPECT_EQ(take(), Names{"rate_restored"}) << "it says nothing any more";
}

TEST_F(Events, KeysThatAreChangedAfterTheirTime) {
  scenario.encrypts = true;
  start();
  EXPECT_EQ(take(), Names{"peer_alive"});
  run_for(stp::Security().time_per_key + Duration::seconds(10));
  EXPECT_EQ(take(), Names{"key_changed"});
  EXPECT_EQ(last_detail.substr(0, 22), "keys so far: 1 of ours") << last_detail;
}

TEST_F(Events, ATableThatIsFull) {
  scenario.station(Side::kA).limits.flows = 4;
  for (int i = 0; i < 8; ++i) add_flow(scenario, Side::kA, requester(100'000), receiver());
  start();
  EXPECT_EQ(take(), (Names{"peer_alive", "table_full"}));
  run_for(Duration::seconds(120));
  EXPECT_EQ(take(), Names{}) << "it is full no more";
}

TEST_F(Events, MemoryThatIsShortForAWhile) {
  scenario.station(Side::kA).limits.memory = ByteCount(2U << 20);
  for (int i = 0; i < 48; ++i) add_flow(scenario, Side::kA, sender(400'000), receiver());
  start();
  run_for(Duration::seconds(120));
  EXPECT_EQ(take(), (Names{"peer_alive", "memory_low", "memory_normal"}));
}

}  // namespace
}  // namespace satrelay::sim::events_test
