// How far hosts are ahead of the link: bytes that the near gateway has accepted and the far host
// has not received yet. Programs count these bytes as sent, and wait that much longer for an
// answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"

namespace satrelay::sim::ahead_test {
namespace {

struct Row {
  std::uint64_t rate;  // Unit: bit/s.
  std::size_t flows;
  Content content = Content::kRandom;
  Duration lan = Duration::zero();  // One way, of the hosts' cable.
};

struct Measured {
  double ahead = 0;  // Seconds of the link beyond a round trip.
  double used = 0;   // Share of the link, in the second half.
};

constexpr Duration kOneWay = Duration::milliseconds(300);

Network& begin(const Row& row, Tracer& tracer, std::unique_ptr<Network>& network) {
  LinkSpec link;
  link.rate = BitRate::bits_per_second(row.rate);
  link.one_way_delay = kOneWay;
  Scenario scenario = make_lab(1, link);
  scenario.stations[0].cable.delay = row.lan;
  for (Station& station : scenario.stations) {
    station.hosts[0].tcp.send_limit = 4 << 20;
    station.hosts[0].tcp.receive_limit = 4 << 20;
  }
  for (std::size_t i = 0; i < row.flows; ++i) {
    add_flow(scenario, Side::kA, sender(1ULL << 40), receiver(), row.content);
  }
  network = std::make_unique<Network>(scenario, tracer);
  return *network;
}

// Plain bytes of A's hosts that its gateway has acknowledged or may acknowledge.
std::uint64_t accepted(Network& network, std::size_t flows) {
  std::uint64_t sum = 0;
  for (const auto& flow :
       network.gateway(Side::kA).engine().flows(0, flows, network.loop().now())) {
    sum += flow.bytes_from_lan + flow.lan_stored;
  }
  return sum;
}

std::uint64_t arrived(Network& network) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < network.flow_count(); ++i) sum += network.flow(i).server.arrived;
  return sum;
}

Measured measure(const Row& row, Duration time) {
  Tracer tracer;
  std::unique_ptr<Network> owner;
  Network& network = begin(row, tracer, owner);
  const auto rate = static_cast<double>(row.rate);
  std::uint64_t most = 0, at_half = 0;
  constexpr Duration kLook = Duration::milliseconds(50);
  const Duration start = network.spec(0).start - Instant();
  network.run_for(start);
  for (Duration passed; passed < time; passed = passed + kLook) {
    network.run_for(kLook);
    most = std::max(most, accepted(network, row.flows) - arrived(network));
    if (passed < time / 2) at_half = arrived(network);
  }
  for (std::size_t i = 0; i < network.flow_count(); ++i) {
    EXPECT_FALSE(network.flow(i).server.first_wrong_byte);
  }
  return {
      .ahead = static_cast<double>(most) * 8 / rate - 2 * kOneWay.to_seconds(),
      .used = static_cast<double>(arrived(network) - at_half) * 8 / rate / (time / 2).to_seconds()};
}

constexpr const char* kSection = "How far hosts are ahead of the link";

TEST(Ahead, OneFlowIsAtMostASecondAndAHalfAheadOfTheLink) {
  struct Line {
    const char* name;
    std::uint64_t rate;
    int seconds;
    // Seconds allowed: a little more than 50 times four segments of 1,460 octets.
    double of_fifty;
  };
  for (const Line& line : {Line{"64 kbit/s", 64'000, 60, 40}, Line{"256 kbit/s", 256'000, 60, 10},
                           Line{"1 Mbit/s", 1'000'000, 10, 4}, Line{"10 Mbit/s", 10'000'000, 5, 1},
                           Line{"100 Mbit/s", 100'000'000, 3, 1}}) {
    const Measured one = measure({line.rate, 1}, Duration::seconds(line.seconds));
    const Measured fifty = measure({line.rate, 50}, Duration::seconds(line.seconds));
    std::printf("  %10s: 1 flow %5.2f s ahead, %4.1f%% used; 50 flows %5.2f s, %4.1f%%\n",
                line.name, one.ahead, one.used * 100, fifty.ahead, fifty.used * 100);
    expect_documented(kSection, line.name, 1, {one.ahead});
    expect_documented(kSection, line.name, 3, {fifty.ahead});
    EXPECT_LE(one.ahead, 1.5) << line.name;
    EXPECT_LE(fifty.ahead, line.of_fifty) << line.name;
    EXPECT_GE(one.used, 0.91) << line.name;
    EXPECT_GE(fifty.used, 0.9) << line.name;
  }
}

TEST(Ahead, NobodyIsAheadOfAGigabit) {
  for (const std::size_t flows : {1, 50}) {
    const Measured m = measure({1'000'000'000, flows}, Duration::milliseconds(1'200));
    std::printf("  1 Gbit/s, %zu flows: %.2f s ahead\n", flows, m.ahead);
    EXPECT_LE(m.ahead, 0.5) << flows;
  }
}

// Compressible data. `ahead` is in seconds that the link takes for it, `times` is its rate as a
// multiple of the link's rate. Small blocks compress less.
struct Crossing {
  double ahead = 0;
  double times = 0;
};

Crossing cross(const Row& row) {
  // On a slow link one block more or less in the second half is 6% of 10 s.
  const std::int64_t seconds = row.rate < 100'000 ? 60 : row.rate < 500'000 ? 20 : 8;
  const Measured m = measure(row, Duration::seconds(seconds));
  return {.ahead = (m.ahead + 2 * kOneWay.to_seconds()) / m.used - 2 * kOneWay.to_seconds(),
          .times = m.used};
}

constexpr const char* kAnswersSection = "Answers of a server, ahead of the link";

TEST(Ahead, WhatCompressesGainsAsMuchOnASlowLinkAndIsNotMuchFurtherAhead) {
  struct Line {
    const char* name;
    std::uint64_t rate;
    double ahead[3];  // Allowed with 1, 10 and 50 flows.
    double times[3];  // Required at least.
  };
  for (const Line& line : {Line{"64 kbit/s", 64'000, {3, 6.5, 10}, {9.5, 8.3, 7.2}},
                           Line{"256 kbit/s", 256'000, {1.5, 2.5, 3}, {9.6, 8.7, 8.4}},
                           Line{"1 Mbit/s", 1'000'000, {1, 2, 2.2}, {9.6, 9.5, 9.3}}}) {
    Crossing crossings[3];
    for (std::size_t i = 0; i < 3; ++i) {
      constexpr std::size_t kFlows[] = {1, 10, 50};
      const Crossing c = crossings[i] = cross({line.rate, kFlows[i], Content::kAnswers});
      std::printf("  %10s, %2zu flows: %5.2f s ahead, %5.2f times the link\n", line.name, kFlows[i],
                  c.ahead, c.times);
      EXPECT_LE(c.ahead, line.ahead[i]) << line.name << ", " << kFlows[i] << " flows";
      EXPECT_GE(c.times, line.times[i]) << line.name << ", " << kFlows[i] << " flows";
    }
    for (std::size_t i = 0; i < 3; ++i) {
      expect_documented(kAnswersSection, line.name, 1 + i, {crossings[i].ahead});
      expect_documented(kAnswersSection, line.name, 4 + i, {crossings[i].times});
    }
  }
}

TEST(Ahead, TextIsNoFurtherAhead) {
  for (const std::uint64_t rate : {64'000U, 256'000U, 1'000'000U}) {
    const Crossing c = cross({rate, 1, Content::kText});
    std::printf("  %llu bit/s, text: %.2f s ahead, %.1f times the link\n",
                static_cast<unsigned long long>(rate), c.ahead, c.times);
    EXPECT_LE(c.ahead, 3) << rate;
    EXPECT_GE(c.times, 14) << rate;
  }
}

// The gateway's window towards the host must hold as much as the link takes in a round trip of the
// LAN.
TEST(Ahead, AHostFarFromItsGatewayFillsTheLink) {
  for (const std::int64_t ms : {25, 75}) {
    const Measured m = measure({50'000'000, 1, Content::kRandom, Duration::milliseconds(ms)},
                               Duration::seconds(8));
    std::printf("  LAN of %lld ms one way: %.2f s ahead, %.1f%% used\n", static_cast<long long>(ms),
                m.ahead, m.used * 100);
    EXPECT_LE(m.ahead, 1.5) << ms;
    EXPECT_GE(m.used, 0.93) << ms;
  }
}

}  // namespace
}  // namespace satrelay::sim::ahead_test
