// The workers of a gateway share a link as if they were one worker: its rate, its classes, its
// hosts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "relay/gateway/steering/flow_hash.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"

namespace satrelay::sim::shared_link_test {
namespace {

constexpr Duration kWarm = Duration::seconds(2);
constexpr Duration kMeasured = Duration::seconds(2);
constexpr double kMbit = 100;
// Share of the rate that STP uses for the bytes of streams.
constexpr double kPayload = 0.995 * 1'450 / 1'538;

constexpr BitRate mbit(double n) {
  return BitRate::bits_per_second(static_cast<std::uint64_t>(n * 1e6));
}

// Flows from A to B, each at a given worker.
class SharedLink {
 public:
  explicit SharedLink(unsigned workers, std::size_t hosts, double rate = kMbit)
      : workers_(workers),
        scenario_(make_lab(61, {.rate = mbit(rate), .one_way_delay = Duration::milliseconds(40)},
                           hosts)) {
    for (Station& station : scenario_.stations) station.workers = workers;
  }
  Scenario& scenario() { return scenario_; }
  Network& network() {
    if (network_ == nullptr) network_ = std::make_unique<Network>(scenario_, tracer_);
    return *network_;
  }

  FlowSpec& add(unsigned worker, std::size_t host, std::uint16_t server_port = 80,
                std::uint64_t bytes = 1U << 30U) {
    FlowSpec& flow = add_flow(scenario_, Side::kA, sender(bytes), receiver());
    flow.server_port = server_port;
    flow.client_host = flow.server_host = host;
    flow.client_port = port_to(worker, host, server_port);
    return flow;
  }
  void add_rule(std::uint16_t port, const std::string& traffic_class) {
    config::Rule rule;
    rule.match.port = {{port, port}};
    rule.match.protocol = {config::kProtocolTcp};
    rule.compress = config::Compress::kOff;
    rule.traffic_class = traffic_class;
    scenario_.rules.push_back(rule);
  }
  void warm_up(Duration time = kWarm) {
    network().loop().run_until(Instant() + Duration::seconds(5) + time);
  }
  // Mbit/s of the link by flow, headers included.
  std::vector<double> rates(Duration time = kMeasured) {
    const std::size_t flows = network().flow_count();
    std::vector<std::uint64_t> before;
    for (std::size_t i = 0; i < flows; ++i) before.push_back(network().flow(i).server.arrived);
    (void)network().satellite().from_a().take_queue_peak();
    network().run_for(time);
    std::vector<double> rates;
    for (std::size_t i = 0; i < flows; ++i) {
      const std::uint64_t bytes = network().flow(i).server.arrived - before[i];
      rates.push_back(static_cast<double>(bytes) * 8e-6 / time.to_seconds() / kPayload);
    }
    return rates;
  }
  double queue_peak_ms() {
    return network().satellite().from_a().take_queue_peak().to_seconds() * 1e3;
  }

 private:
  std::uint16_t port_to(unsigned worker, std::size_t host, std::uint16_t server_port) {
    const IpAddress from = scenario_.station(Side::kA).hosts[host].addresses.v4;
    const IpAddress to = scenario_.station(Side::kB).hosts[host].addresses.v4;
    for (;;) {
      const std::uint16_t port = ++next_port_;
      if ((gateway::flow_hash(from, to, port, server_port) & (workers_ - 1)) == worker) return port;
    }
  }

  unsigned workers_;
  Scenario scenario_;
  Tracer tracer_;
  std::unique_ptr<Network> network_;
  std::uint16_t next_port_ = 30'000;
};

double sum(const std::vector<double>& rates) {
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

// A table of docs/measurements.md, with a column for 1, 2 and 8 workers.
constexpr const char* kSection = "One link, several workers";
std::size_t column_of(unsigned workers) { return workers == 1 ? 1 : workers == 2 ? 2 : 3; }

double alone(unsigned workers) {
  SharedLink link(workers, 1);
  link.add(workers - 1, 0);
  link.warm_up();
  const double rate = link.rates()[0];
  std::printf("  %u workers: one flow alone %.2f Mbit/s, queue %.1f ms\n", workers, rate,
              link.queue_peak_ms());
  return rate;
}

TEST(SharedLink, OneFlowAloneHasAllOfIt) {
  const double one = alone(1), two = alone(2), eight = alone(8);
  EXPECT_GE(two, one * 0.99);
  EXPECT_GE(eight, one * 0.99);
  expect_documented(kSection, "one flow alone", 1, {one});
  expect_documented(kSection, "one flow alone", 2, {two});
  expect_documented(kSection, "one flow alone", 3, {eight});
}

TEST(SharedLink, AllTogetherFillItAndHostsGetAlike) {
  constexpr std::size_t kHosts = 20;
  for (const unsigned workers : {2U, 8U}) {
    SharedLink link(workers, kHosts);
    for (std::size_t i = 0; i < kHosts; ++i) {
      const auto worker = static_cast<unsigned>(i < kHosts / 2 ? 0 : i % workers);
      link.add(worker, i);
    }
    link.warm_up();
    const std::vector<double> rates = link.rates();
    const auto [least, most] = std::ranges::minmax(rates);
    std::printf("  %u workers: %.2f Mbit/s, a host %.2f to %.2f, queue %.1f ms\n", workers,
                sum(rates), least, most, link.queue_peak_ms());
    expect_documented(kSection, "20 hosts, 10 of them", column_of(workers), {sum(rates)});
    expect_documented(kSection, "the same: what a host gets", column_of(workers), {least, most});
    EXPECT_GE(sum(rates), kMbit * 0.99);
    const double fair = sum(rates) / kHosts;
    EXPECT_NEAR(least / fair, 1, 0.05);
    EXPECT_NEAR(most / fair, 1, 0.05);
  }
}

TEST(SharedLink, GuaranteesAndMaximaAreThoseOfTheLink) {
  for (const unsigned workers : {2U, 8U}) {
    SharedLink link(workers, 8);
    link.scenario().classes = {{.name = "sure", .weight = 1, .guaranteed = mbit(40)},
                               {.name = "little", .weight = 1, .maximum = mbit(10)},
                               {.name = "rest", .weight = 1}};
    link.add_rule(81, "sure");
    link.add_rule(82, "little");
    link.add_rule(80, "rest");
    for (unsigned i = 0; i < 4; ++i) link.add(0, i, 81);
    for (unsigned i = 0; i < 8; ++i) link.add(i % workers, i, 82);
    for (unsigned i = 0; i < 8; ++i) link.add(i % workers, i, 80);
    link.warm_up();
    const std::vector<double> rates = link.rates();
    const double sure = std::accumulate(rates.begin(), rates.begin() + 4, 0.0);
    const double little = std::accumulate(rates.begin() + 4, rates.begin() + 12, 0.0);
    const double rest = std::accumulate(rates.begin() + 12, rates.end(), 0.0);
    std::printf("  %u workers: guaranteed %.2f, limited %.2f, rest %.2f Mbit/s, queue %.1f ms\n",
                workers, sure, little, rest, link.queue_peak_ms());
    expect_documented(kSection, "40 guaranteed", column_of(workers), {sure});
    expect_documented(kSection, "at most 10", column_of(workers), {little});
    expect_documented(kSection, "the other class", column_of(workers), {rest});
    EXPECT_NEAR(sum(rates), kMbit, 1);
    // 50 Mbit/s are left to the other two.
    EXPECT_NEAR(sure, 65, 65 * 0.03);
    EXPECT_NEAR(little, 10, 0.3);
    EXPECT_NEAR(rest, 25, 25 * 0.05);
  }
}

// One flow fills the link, and the flows of the other workers begin together.
TEST(SharedLink, TheModemsQueueStaysShortWhenAllBegin) {
  for (const unsigned workers : {2U, 8U}) {
    SharedLink link(workers, workers);
    link.add(0, 0);
    const Instant start = Instant() + Duration::seconds(8);
    for (unsigned i = 1; i < workers; ++i) link.add(i, i).start = start;
    link.network().loop().run_until(start - Duration::milliseconds(100));
    (void)link.queue_peak_ms();
    link.network().loop().run_until(start + Duration::milliseconds(600));
    const double queue = link.queue_peak_ms();
    std::printf("  %u workers: queue %.1f ms\n", workers, queue);
    expect_documented(kSection, "the modem's queue when all begin", column_of(workers), {queue});
    EXPECT_LE(queue, 6);
    EXPECT_EQ(link.network().satellite().from_a().counters().dropped_queue, 0U);
  }
}

// The flow waits no longer than the modem's queue lasts.
TEST(SharedLink, AFlowAtAnIdleWorkerBeginsAtOnce) {
  const auto first_byte = [](bool busy) {
    SharedLink link(8, 2);
    if (busy) link.add(0, 0);
    link.add(5, 1, 80, 500).start = Instant() + Duration::seconds(8);
    link.network().loop().run_until(Instant() + Duration::seconds(9));
    const std::size_t flow = link.network().flow_count() - 1;
    return link.network().flow(flow).server.first_byte_at;
  };
  const Duration later = first_byte(true) - first_byte(false);
  std::printf("  %.1f ms later than on an idle link\n", later.to_seconds() * 1e3);
  EXPECT_LE(later, Duration::milliseconds(6));
}

TEST(SharedLink, AnotherRateHoldsForAllWorkersTogether) {
  SharedLink link(4, 4);
  for (unsigned i = 0; i < 4; ++i) link.add(i, i);
  link.warm_up();
  for (const double rate : {20.0, 100.0}) {
    GatewayNode& node = link.network().gateway(Side::kA);
    for (unsigned i = 0; i < node.workers(); ++i) {
      node.engine(i).rates().set_capacity("sat", gateway::LinkWay::kSend, mbit(rate),
                                          link.network().loop().now());
    }
    node.wake();
    link.network().run_for(Duration::seconds(2));
    const double all = sum(link.rates());
    std::printf("  at %.0f Mbit/s: %.2f\n", rate, all);
    EXPECT_NEAR(all, rate, rate * 0.015);
  }
}

// A peer may be sent less than its link carries. The limit holds for the lanes of all workers
// together.
TEST(SharedLink, WhatAPeerIsSentAtMostHoldsForAllItsLanes) {
  for (const unsigned busy : {1U, 4U}) {
    SharedLink link(4, 4);
    for (unsigned i = 0; i < busy; ++i) link.add(i, i);
    link.warm_up();
    GatewayNode& node = link.network().gateway(Side::kA);
    for (unsigned i = 0; i < node.workers(); ++i) {
      EXPECT_TRUE(
          node.engine(i).rates().set_peer_rate("far", mbit(30), link.network().loop().now()));
    }
    node.wake();
    link.network().run_for(Duration::seconds(2));
    const double all = sum(link.rates());
    std::printf("  %u of 4 lanes busy: %.2f Mbit/s\n", busy, all);
    EXPECT_NEAR(all, 30, 30 * 0.015);
  }
}

}  // namespace
}  // namespace satrelay::sim::shared_link_test
