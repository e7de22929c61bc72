// Short flows on links that lose packets, in virtual time. With forward error correction a lost
// packet costs milliseconds instead of a round trip. Each flow has the idle link for itself. Its
// time runs from the client's SYN to the last byte at the server.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/options.h"

namespace satrelay::sim::short_flow_test {
namespace {

struct Case {
  const char* name;
  std::uint64_t rate;
  Duration one_way;
  std::uint64_t bytes;
  double bound;      // At the receiver, without loss.
  double nack_mean;  // With 1% loss and immediate reports (reference figures).
};

constexpr Case kCases[] = {
    {"51 Mbit/s, RTT 778 ms, 100 KB", 51'000'000, Duration::milliseconds(389), 100'000, 0.41, 0.80},
    {"51 Mbit/s, RTT 778 ms, 1 MB", 51'000'000, Duration::milliseconds(389), 1'000'000, 0.55, 1.36},
    {"250 Mbit/s, RTT 600 ms, 100 KB", 250'000'000, Duration::milliseconds(300), 100'000, 0.30,
     0.60},
    {"250 Mbit/s, RTT 600 ms, 1 MB", 250'000'000, Duration::milliseconds(300), 1'000'000, 0.33,
     0.97},
};

struct Link {
  double loss = 0;
  std::optional<config::GilbertElliott> bursts = std::nullopt;
  config::Fec fec = config::Fec::kAuto;
  BitRate feedback_budget = BitRate();
};

struct Measured {
  std::vector<double> seconds;  // Ascending.
  stp::Counters sender;
  stp::Counters receiver;

  double mean() const {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) /
           static_cast<double>(seconds.size());
  }
  double quantile(double share) const {
    const auto index = static_cast<std::size_t>(share * static_cast<double>(seconds.size()));
    return seconds[std::min(index, seconds.size() - 1)];
  }
};

stp::Counters stp_counters(Network& network, Side side) {
  return network.gateway(side).engine().peers().front().counters;
}

Measured measure(const Case& flow, const Link& link, std::size_t flows, std::uint64_t seed) {
  LinkSpec spec;
  spec.rate = BitRate::bits_per_second(static_cast<std::int64_t>(flow.rate));
  spec.one_way_delay = flow.one_way;
  spec.loss = link.loss;
  Scenario scenario = make_lab(seed, spec);
  scenario.a_to_b.gilbert_elliott = scenario.b_to_a.gilbert_elliott = link.bursts;
  scenario.stp.fec = link.fec;
  scenario.stp.feedback.budget = link.feedback_budget;
  for (Station& station : scenario.stations) {
    station.hosts[0].tcp.send_limit = 2 << 20;
    station.hosts[0].tcp.receive_limit = 2 << 20;
  }
  // The next flow begins when no packet of the last one can be in flight any more.
  const Duration spacing = flow.one_way * 12;
  for (std::size_t i = 0; i < flows; ++i) {
    FlowSpec& added = add_flow(scenario, Side::kA, sender(flow.bytes), receiver());
    added.start = Instant() + Duration::seconds(5) + spacing * static_cast<std::int64_t>(i);
  }
  Tracer tracer;
  Network network(scenario, tracer);
  const Instant limit = scenario.flows.back().start + Duration::seconds(60);
  EXPECT_TRUE(network.run_until_flows_over(limit));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  EXPECT_EQ(network.bridged_tcp(), 0U);
  Measured measured;
  for (std::size_t i = 0; i < flows; ++i) {
    const FlowResult& result = network.flow(i);
    measured.seconds.push_back((result.server.saw_end_at - result.client.started_at).to_seconds());
  }
  std::ranges::sort(measured.seconds);
  measured.sender = stp_counters(network, Side::kA);
  measured.receiver = stp_counters(network, Side::kB);
  return measured;
}

void print(const char* name, const char* link, const Measured& m) {
  std::printf(
      "  %-32s %-14s %5zu %7.3f %7.3f %7.3f %7.3f  %llu of %llu sent, %llu used, %llu lost\n", name,
      link, m.seconds.size(), m.mean(), m.quantile(0.5), m.quantile(0.99), m.seconds.back(),
      static_cast<unsigned long long>(m.sender.repair_packets_out),
      static_cast<unsigned long long>(m.sender.packets_out),
      static_cast<unsigned long long>(m.receiver.repair_used),
      static_cast<unsigned long long>(m.sender.packets_lost));
}

void print_header() {
  std::printf("  %-32s %-14s %5s %7s %7s %7s %7s  repairs\n", "", "loss", "flows", "mean", "median",
              "p99", "slowest");
}

class ShortFlows : public ::testing::TestWithParam<Case> {};

TEST_P(ShortFlows, FeelAOnePercentLossLikeACleanLink) {
  const Case& flow = GetParam();
  print_header();
  print(flow.name, "none", measure(flow, {}, 10, 1));
  Link off{.loss = 0.01};
  off.fec = config::Fec::kOff;
  const std::size_t flows = options().short_flows;
  const Measured without = measure(flow, off, std::min<std::size_t>(flows, 25), 2);
  print(flow.name, "1%, FEC off", without);
  const Measured with = measure(flow, {.loss = 0.01}, flows, 3);
  print(flow.name, "1%", with);
  EXPECT_LE(with.mean(), flow.bound * 1.15);
  EXPECT_LE(with.quantile(0.99), flow.nack_mean);
  EXPECT_GT(with.receiver.repair_used, 0U);
  EXPECT_LT(with.mean(), without.mean());
}

TEST_P(ShortFlows, BurstsAndAPoorReturnBudgetAreBorne) {
  const Case& flow = GetParam();
  Link link;
  // One percent in bursts of ten packets, and reports limited to 5 kbit/s.
  link.bursts = config::GilbertElliott{.good_to_bad = 0.00101, .bad_to_good = 0.1};
  print_header();
  print(flow.name, "bursts of 10", measure(flow, link, 25, 4));
  link.bursts.reset();
  link.loss = 0.01;
  link.feedback_budget = BitRate::bits_per_second(5'000);
  const Measured poor = measure(flow, link, 25, 5);
  print(flow.name, "1%, 5 kbit/s", poor);
  EXPECT_LE(poor.mean(), flow.bound * 1.15);
}

INSTANTIATE_TEST_SUITE_P(Links, ShortFlows, ::testing::ValuesIn(kCases));

TEST(ShortFlowRepairs, ACleanPathCarriesRepairsOfOpensOnly) {
  const Measured m = measure(kCases[1], {}, 30, 6);
  // Until a thousand packets have arrived, the path counts as unknown: two flows of 700 packets.
  EXPECT_LT(m.sender.repair_packets_out, 200U + 30U);
  EXPECT_GE(m.sender.repair_packets_out, 30U);
  EXPECT_EQ(m.receiver.repair_used, 0U);
  EXPECT_EQ(m.receiver.repair_wasted, m.receiver.repair_packets_in);
  EXPECT_EQ(m.sender.packets_lost, 0U);
}

TEST(ShortFlowRepairs, ArePartOfNoBulk) {
  LinkSpec spec;
  spec.loss = 0.01;
  Scenario scenario = make_lab(7, spec);
  for (Station& station : scenario.stations) {
    station.hosts[0].tcp.send_limit = station.hosts[0].tcp.receive_limit = 4 << 20;
  }
  add_flow(scenario, Side::kA, sender(30'000'000), receiver());
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(120)));
  const stp::Counters sender_side = stp_counters(network, Side::kA);
  // Repairs of its beginning are given up; repairs of its tail are sent.
  EXPECT_LT(sender_side.repair_packets_out, 200U);
  EXPECT_LT(sender_side.repair_packets_out * 100, sender_side.packets_out);
}

}  // namespace
}  // namespace satrelay::sim::short_flow_test
