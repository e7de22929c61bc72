// The link is gone for a while, in both directions or in one. Flows lose nothing but time.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "pep/base/random.h"
#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/draws.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::outage_test {
namespace {

constexpr BitRate kRate = BitRate::bits_per_second(50'000'000);
constexpr Duration kRoundTrip = Duration::milliseconds(550);
constexpr Duration kProbeInterval = Duration::milliseconds(100);

enum class Ways : std::uint8_t { kBoth, kForward, kReturn };

// A download from B to A, and an upload in the other direction.
class OutageTest : public ::testing::Test {
 protected:
  void start(std::uint64_t seed, double loss = 0) {
    LinkSpec link;
    link.rate = kRate;
    link.one_way_delay = kRoundTrip / 2;
    link.loss = loss;
    Scenario scenario = make_lab(seed, link);
    for (Station& station : scenario.stations) {
      station.hosts[0].tcp.send_limit = 4 << 20;
      station.hosts[0].tcp.receive_limit = 4 << 20;
    }
    scenario.stp.give_up_after = give_up_after;
    add_flow(scenario, Side::kA, requester(100), responder(100, 40'000'000));
    add_flow(scenario, Side::kA, sender(30'000'000), receiver());
    network.emplace(scenario, tracer);
    network->satellite().on_frame([this](unsigned from, ConstBytes frame) {
      if (from != SatelliteLink::kB) return;
      sent += frame.size() - kEthernetHeader + config::kOverheadEthernet;
    });
    network->run_for(Duration::seconds(8));
    ASSERT_GT(network->flow(0).client.received, 1'000'000U);
  }
  void set(Ways ways, bool outage) {
    if (ways != Ways::kReturn) network->satellite().from_b().set_outage(outage);
    if (ways != Ways::kForward) network->satellite().from_a().set_outage(outage);
  }
  gateway::PeerSnapshot sending_side() { return network->gateway(Side::kB).engine().peers().at(0); }
  // The link is gone for `length`. Afterwards all flows continue.
  void pass(Ways ways, Duration length) {
    set(ways, true);
    // Packets in flight arrive, and their reports return or do not. After that the sender is
    // silent.
    network->run_for(kRoundTrip * 3);
    const std::uint64_t before = sent;
    network->run_for(length - kRoundTrip * 3);
    const double silence =
        static_cast<double>((sent - before) * 8) / (length - kRoundTrip * 3).to_seconds();
    EXPECT_LT(silence, 0.01 * static_cast<double>(kRate.to_bits_per_second()))
        << "fed to the outage";
    EXPECT_FALSE(network->flow(0).client.ended);
    const double loss = sending_side().loss_ratio.value();
    set(ways, false);
    const Instant back = network->loop().now();
    // The other gateway's probe arrives half a round trip after the return. It is enough to resume
    // sending.
    network->run_for(kRoundTrip / 2 + kProbeInterval);
    const std::uint64_t early = sent;
    network->run_for(kRoundTrip / 2);
    if (ways == Ways::kBoth) {
      EXPECT_GT(static_cast<double>(sent - early),
                0.99 * static_cast<double>(kRate.bytes_in(kRoundTrip / 2).value()));
    }
    const std::uint64_t resumed = sent;
    const gateway::PeerSnapshot at_resumption = sending_side();
    network->run_for(kRoundTrip);
    const double used = static_cast<double>(sent - resumed) /
                        static_cast<double>(kRate.bytes_in(kRoundTrip).value());
    EXPECT_GT(used, 0.99);
    const std::uint64_t again =
        sending_side().counters.retransmitted_bytes - at_resumption.counters.retransmitted_bytes;
    // Data that was in flight when the link went is retransmitted before any new data.
    if (ways != Ways::kReturn) {
      EXPECT_GT(again, 3'000'000U);
    }
    EXPECT_LE(sending_side().loss_ratio.value(), loss + 0.001)
        << "the outage counts as loss of the link";
    ASSERT_TRUE(network->run_until_flows_over(back + Duration::seconds(60)));
    for (const std::string& broken : check_flows(*network)) ADD_FAILURE() << broken;
    EXPECT_EQ(network->counted(gateway::Counter::kFlowsResetPeerLost), 0U);
    std::printf(
        "  %3.0f s %s: %.1f kbit/s meanwhile; one round trip and 100 ms after the return "
        "%.1f%% of the rate, %.1f MB of it again\n",
        length.to_seconds(),
        ways == Ways::kBoth      ? "both"
        : ways == Ways::kForward ? "forward"
                                 : "return",
        silence / 1e3, used * 100, static_cast<double>(again) / 1e6);
  }
  static constexpr std::size_t kEthernetHeader = 14;
  Duration give_up_after = Duration::seconds(120);
  Tracer tracer;
  std::optional<Network> network;
  std::uint64_t sent = 0;  // Bytes sent by B, as the modem counts them.
};

TEST_F(OutageTest, TenSecondsAndTheLinkIsFullAgainOneRoundTripAfterItsReturn) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    start(seed);
    pass(Ways::kBoth, Duration::seconds(10));
  }
}

TEST_F(OutageTest, HalfAMinuteAndTwoMinutes) {
  start(4);
  pass(Ways::kBoth, Duration::seconds(30));
  start(5);
  pass(Ways::kBoth, Duration::seconds(120));
}

TEST_F(OutageTest, OneDirectionAlone) {
  start(6);
  pass(Ways::kForward, Duration::seconds(10));
  start(7);
  pass(Ways::kReturn, Duration::seconds(10));
}

// The senders of the download and of the upload have bytes that wait, and are reset. The hosts at
// the other ends are reset when the link is back.
TEST_F(OutageTest, AfterTheTimeToGiveUpWhatWaitsIsResetAndNewFlowsWork) {
  give_up_after = Duration::seconds(5);
  start(8);
  set(Ways::kBoth, true);
  network->run_for(Duration::seconds(5));
  EXPECT_EQ(network->counted(gateway::Counter::kFlowsResetPeerLost), 0U);
  network->run_for(Duration::seconds(5));
  EXPECT_EQ(network->counted(gateway::Counter::kFlowsResetPeerLost), 2U);
  EXPECT_TRUE(network->flow(0).server.was_reset());
  EXPECT_TRUE(network->flow(1).client.was_reset());
  EXPECT_FALSE(network->flow(0).client.ended);
  set(Ways::kBoth, false);
  network->run_for(Duration::seconds(5));
  EXPECT_TRUE(network->flow(0).client.was_reset());
  EXPECT_TRUE(network->flow(1).server.was_reset());
  FlowSpec fresh = network->spec(0);
  fresh.client_plan = requester(100);
  fresh.server_plan = responder(100, 200'000);
  fresh.client_plan.expected = fresh.server_plan.content = Pattern(77, Content::kText);
  fresh.server_plan.expected = fresh.client_plan.content = Pattern(78, Content::kText);
  fresh.start = network->loop().now();
  const std::size_t index = network->open(fresh);
  network->run_for(Duration::seconds(5));
  EXPECT_EQ(network->flow(index).client.received, 200'000U);
  EXPECT_TRUE(network->flow(index).client.saw_end);
}

// Ten connections that send once in a quarter of an hour, and two transfers. The link, or the
// servers' LAN, takes none of their bytes for minutes.
class LongOutage : public ::testing::Test {
 protected:
  static constexpr std::size_t kIdle = 10;
  static Plan patient(Plan plan) {
    plan.patience = Duration::seconds(7'200);
    return plan;
  }
  void start(std::uint64_t seed) {
    LinkSpec link;
    link.rate = BitRate::bits_per_second(10'000'000);
    link.one_way_delay = kRoundTrip / 2;
    Scenario scenario = make_lab(seed, link);
    for (std::size_t i = 0; i < kIdle; ++i) {
      add_flow(scenario, Side::kA, typist(200, 100, Duration::seconds(900)), receiver());
    }
    add_flow(scenario, Side::kA, patient(sender(20'000'000)), patient(receiver()));
    add_flow(scenario, Side::kA, patient(requester(100)), patient(responder(100, 20'000'000)));
    network.emplace(scenario, tracer);
    network->run_for(Duration::seconds(10));
  }
  void expect_all_well() {
    ASSERT_TRUE(network->run_until_flows_over(Instant() + Duration::seconds(1'200)));
    for (const std::string& broken : check_flows(*network)) ADD_FAILURE() << broken;
    for (std::size_t i = 0; i < kIdle; ++i) {
      EXPECT_EQ(network->flow(i).server.received, 200U) << i;
    }
    EXPECT_EQ(network->flow(kIdle).server.received, 20'000'000U);
    EXPECT_EQ(network->flow(kIdle + 1).client.received, 20'000'000U);
  }
  Tracer tracer;
  std::optional<Network> network;
};

TEST_F(LongOutage, OfTheLinkForTenMinutesEndsNoConnection) {
  start(11);
  network->satellite().set_outage(true);
  network->run_for(Duration::seconds(600));
  network->satellite().set_outage(false);
  expect_all_well();
}

TEST_F(LongOutage, OfALanForFiveMinutesEndsNoConnection) {
  start(12);
  network->lan(Side::kB).set_outage(true);
  network->run_for(Duration::seconds(300));
  network->lan(Side::kB).set_outage(false);
  expect_all_well();
}

// Over a bridge the sender would give up by then, too, and its far host would not learn about it.
TEST_F(LongOutage, OfHalfAnHourEndsOnlyWhatWaits) {
  start(13);
  network->satellite().set_outage(true);
  network->run_for(Duration::seconds(850));
  EXPECT_FALSE(network->flow(kIdle).client.ended);
  network->run_for(Duration::seconds(2'100) - Duration::seconds(850));
  EXPECT_TRUE(network->flow(kIdle).client.was_reset());
  EXPECT_TRUE(network->flow(kIdle + 1).server.was_reset());
  EXPECT_FALSE(network->flow(kIdle + 1).client.ended);
  network->satellite().set_outage(false);
  network->run_for(Duration::seconds(10));
  EXPECT_TRUE(network->flow(kIdle + 1).client.was_reset());
}

// Each flow has lost some bytes. Its new bytes would wait behind the gaps at the far side.
TEST(Outage, HostsOfManyConnectionsHaveTheirRateBackAtOnce) {
  constexpr int kFlows = 10;
  LinkSpec link;
  link.rate = kRate;
  link.one_way_delay = kRoundTrip / 2;
  Scenario scenario = make_lab(5, link);
  for (Station& station : scenario.stations) {
    station.hosts[0].tcp.send_limit = station.hosts[0].tcp.receive_limit = 4 << 20;
  }
  for (int i = 0; i < kFlows; ++i) add_flow(scenario, Side::kA, sender(15'000'000), receiver());
  Tracer tracer;
  Network network(scenario, tracer);
  const auto received = [&] {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kFlows; ++i) sum += network.flow(i).server.received;
    return sum;
  };
  network.run_for(Duration::seconds(8));
  for (const bool is_away : {true, false}) {
    network.satellite().from_a().set_outage(is_away);
    network.satellite().from_b().set_outage(is_away);
    network.run_for(is_away ? Duration::seconds(10) : kRoundTrip * 4);
  }
  const std::uint64_t before = received();
  network.run_for(Duration::seconds(2));
  const double share = static_cast<double>(received() - before) * 8 / 2 / 50e6;
  std::printf("  %.0f%% of the link between two and four seconds after its return\n", 100 * share);
  EXPECT_GT(share, 0.9);
  for (const std::string& broken : run_and_check(network)) ADD_FAILURE() << broken;
}

// Two sites work for an hour. The link is away for 10 s to 10 min again and again.
class HourOfOutages : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::size_t kOfEach = 10;
  struct Count {
    std::size_t alive = 0, outages = 0;
    Duration away;
  };
  // Counts connections that delivered every byte and ended in order after the hour.
  static Count count(std::uint64_t seed, config::Action action) {
    LinkSpec link;
    link.rate = BitRate::bits_per_second(10'000'000);
    link.one_way_delay = Duration::milliseconds(300);
    Scenario scenario = make_lab(seed, link);
    config::Rule all;
    all.action = action;
    scenario.rules.push_back(all);
    constexpr std::int64_t kHour = 3'600;
    const auto add = [&](std::uint64_t chunk, std::int64_t seconds, bool upwards) {
      const auto chunks = static_cast<std::uint64_t>(kHour / seconds);
      const Plan speaker = typist(chunks * chunk, chunk, Duration::seconds(seconds));
      if (upwards) add_flow(scenario, Side::kA, speaker, receiver());
      if (!upwards) add_flow(scenario, Side::kA, receiver(), speaker);
    };
    for (std::size_t i = 0; i < kOfEach; ++i) {
      add(1, 1'200, i % 2 == 0);    // Mostly silent.
      add(40, 5, i % 2 == 0);       // Typing.
      add(30'000, 30, i % 2 == 0);  // Copies and reports.
      add(1'000'000, 240, i % 2 == 0);
    }
    Count result;
    Random random(seed);
    for (Instant at = Instant() + Duration::seconds(20);;) {
      at = at + Duration::seconds(20 + static_cast<std::int64_t>(random.below(400)));
      const Duration length =
          Duration::milliseconds(static_cast<std::int64_t>(log_uniform(random, 10e3, 600e3)));
      if (at + length > Instant() + Duration::seconds(kHour)) break;
      scenario.outages.push_back({at, length});
      at = at + length;
      result.away = result.away + length;
    }
    result.outages = scenario.outages.size();
    Tracer tracer;
    Network network(scenario, tracer);
    network.run_until_flows_over(Instant() + Duration::seconds(2 * kHour));
    for (std::size_t i = 0; i < network.flow_count(); ++i) {
      const FlowResult& flow = network.flow(i);
      const FlowSpec& spec = network.spec(i);
      result.alive += flow.client.saw_end && flow.server.saw_end &&
                      flow.server.received == spec.client_plan.send_bytes &&
                      flow.client.received == spec.server_plan.send_bytes;
    }
    return result;
  }
};

TEST_P(HourOfOutages, EndsNoConnectionThatLivesOverABridge) {
  const Count bridged = count(GetParam(), config::Action::kBridge);
  const Count relayed = count(GetParam(), config::Action::kAccelerate);
  std::printf(
      "  %zu outages, %.0f s in all: of %zu connections %zu are alive over a bridge, %zu here\n",
      bridged.outages, bridged.away.to_seconds(), 4 * kOfEach, bridged.alive, relayed.alive);
  EXPECT_GE(relayed.alive, bridged.alive);
  EXPECT_GE(relayed.alive, 4 * kOfEach - 1);
}
INSTANTIATE_TEST_SUITE_P(Seeds, HourOfOutages, testing::Range<std::uint64_t>(1, 3));

// A server has vanished, and its clients' data waits at both gateways. Each gateway has room for 64
// flows. The flows of another client take the places of flows that made no progress for 100 s.
TEST(Outage, WhatStandsStillMakesRoomForOthers) {
  constexpr std::size_t kSlots = 64, kStill = 30, kOthers = 24;
  LinkSpec link;
  link.rate = kRate;
  link.one_way_delay = kRoundTrip / 2;
  Scenario scenario = make_lab(14, link, 2);
  for (Station& station : scenario.stations) station.limits.flows = kSlots;
  scenario.vanishings.push_back({Side::kA, 0, Instant() + Duration::seconds(12)});
  for (std::size_t i = 0; i < kStill; ++i) {
    add_flow(scenario, Side::kA, requester(100), responder(100, 100'000'000));
  }
  Tracer tracer;
  Network network(scenario, tracer);
  const auto open_others = [&] {
    FlowSpec spec = network.spec(0);
    spec.client_host = spec.server_host = 1;
    spec.client_plan = typist(200, 100, Duration::seconds(60));
    spec.server_plan = receiver();
    std::uint64_t before = network.counted(gateway::Counter::kFlowsEstablished);
    for (std::size_t i = 0; i < kOthers; ++i) {
      spec.start = network.loop().now();
      network.open(spec);
      network.run_for(Duration::milliseconds(200));
    }
    network.run_for(Duration::seconds(5));
    return network.counted(gateway::Counter::kFlowsEstablished) - before;
  };
  network.run_for(Duration::seconds(60));
  const std::uint64_t at_first = open_others();
  EXPECT_LT(at_first, kOthers);
  EXPECT_EQ(network.counted(gateway::Counter::kFlowsResetForRoom), 0U) << "not long enough";
  network.run_for(Duration::seconds(120));
  const std::uint64_t later = open_others();
  const std::uint64_t ended = network.counted(gateway::Counter::kFlowsResetForRoom);
  std::printf(
      "  relayed of %zu: %llu, and after 100 s without progress of others %llu; %llu ended\n",
      kOthers, static_cast<unsigned long long>(at_first), static_cast<unsigned long long>(later),
      static_cast<unsigned long long>(ended));
  EXPECT_GT(later, at_first);
  EXPECT_GT(ended, 0U);
  EXPECT_LT(ended, kStill) << "until both clients have as many";
}

// The gateway has answered the SYN, and its peer becomes suspect before the client's ACK arrives.
// The client then waits for the link as all others do.
TEST(Outage, AConnectionThatWasBeingOpenedWaitsForTheLink) {
  const Instant gone = Instant() + Duration::seconds(5);
  LinkSpec link;
  link.rate = kRate;
  link.one_way_delay = kRoundTrip / 2;
  Scenario scenario = make_lab(9, link);
  scenario.station(Side::kA).cable.delay = Duration::seconds(1);
  scenario.outages.push_back({gone, Duration::seconds(20)});
  add_flow(scenario, Side::kA, requester(100), responder(100, 10'000)).start =
      gone + Duration::seconds(1);
  Tracer tracer;
  Network network(scenario, tracer);
  const auto peer_of_a = [&] { return network.gateway(Side::kA).engine().peers().at(0).state; };
  network.run_for(Duration::milliseconds(7'500));
  ASSERT_EQ(network.gateway(Side::kA).engine().flow_count(), 1U);
  ASSERT_EQ(peer_of_a(), stp::PeerState::kAlive);
  network.run_for(Duration::seconds(1));
  ASSERT_EQ(peer_of_a(), stp::PeerState::kSuspect);
  ASSERT_FALSE(network.gateway(Side::kA).engine().flows(0, 1, network.loop().now()).empty());
  for (const std::string& broken : run_and_check(network)) ADD_FAILURE() << broken;
  EXPECT_TRUE(network.flow(0).client.saw_end);
  EXPECT_EQ(network.counted(gateway::Counter::kFlowsResetPeerLost), 0U);
}

}  // namespace
}  // namespace satrelay::sim::outage_test
