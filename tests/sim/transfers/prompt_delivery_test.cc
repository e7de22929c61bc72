// `delivery: prompt`: how much a loss adds to the delay of a constant stream, and what that costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"
#include "tests/sim/options.h"

namespace satrelay::sim::prompt_delivery_test {
namespace {

constexpr std::uint64_t kChunk = 1000;
constexpr Duration kInterval = Duration::milliseconds(4);  // 2 Mbit/s
constexpr std::uint64_t kStreamBytes = 5'000'000;          // 20 s
constexpr std::uint64_t kBulkBytes = 170'000'000;
constexpr Duration kOneWay = Duration::milliseconds(275);

struct Measured {
  double p50 = 0, p99 = 0, worst = 0;  // Milliseconds beyond the link's delay.
  std::uint64_t bytes = 0;             // UDP payload of the stream's gateway.
};

struct Case {
  double loss = 0;
  config::DeliveryMode delivery = config::DeliveryMode::kOrdinary;
  bool bulk = false;
  double share = 0;  // Share of repairs.
  bool repairs = true;
};

Measured measure(const Case& c) {
  LinkSpec link;
  link.loss = c.loss;
  Scenario scenario = make_lab(1, link, 2);
  scenario.stp.prompt_overhead = c.share;
  if (!c.repairs) scenario.stp.fec = config::Fec::kOff;
  config::Rule prompt;
  prompt.match.port = {{7000, 7000}};
  prompt.modes.delivery = c.delivery;
  scenario.rules = {prompt, config::Rule()};
  FlowSpec& stream =
      add_flow(scenario, Side::kA, typist(kStreamBytes, kChunk, kInterval), receiver());
  stream.server_port = 7000;
  stream.server_plan.record_arrivals = true;
  stream.start = Instant() + Duration::seconds(8);
  if (c.bulk) {
    FlowSpec& file = add_flow(scenario, Side::kA, sender(kBulkBytes), receiver());
    file.client_host = file.server_host = 1;
  }
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(120)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  // Compares the time when each chunk was written with the time when all of it had arrived.
  const FlowResult& result = network.flow(0);
  const Instant first = result.client.established_at;
  std::vector<double> added;
  std::uint64_t chunk = 0;
  for (const Arrival& arrival : result.server.arrivals) {
    for (; (chunk + 1) * kChunk <= arrival.received; ++chunk) {
      const Instant written = first + kInterval * static_cast<std::int64_t>(chunk);
      added.push_back((arrival.when - written - kOneWay).to_seconds() * 1000);
    }
  }
  std::ranges::sort(added);
  Measured measured;
  measured.bytes = network.gateway(Side::kA).engine().peers().front().counters.bytes_out;
  measured.p50 = added[added.size() / 2];
  measured.p99 = added[added.size() * 99 / 100];
  measured.worst = added.back();
  return measured;
}

constexpr const char* kSection = "Delay of a constant stream";

TEST(PromptDelivery, ALossDelaysAConstantStreamLittle) {
  const auto ordinary = config::DeliveryMode::kOrdinary, prompt = config::DeliveryMode::kPrompt;
  std::printf("  a stream of 2 Mbit/s beside bulk, 50 Mbit/s, RTT 550 ms: milliseconds more\n");
  std::printf("  %5s %-9s %8s %8s %8s %8s %9s\n", "loss", "delivery", "repairs", "median", "p99",
              "worst", "overhead");
  const double clean = static_cast<double>(measure({.repairs = false}).bytes);
  const auto row = [&](double loss, config::DeliveryMode mode, double share,
                       const std::string& documented) {
    const Measured beside = measure({.loss = loss, .delivery = mode, .bulk = true, .share = share});
    const Measured alone = measure({.loss = loss, .delivery = mode, .share = share});
    const double overhead = static_cast<double>(alone.bytes) / clean - 1;
    std::printf("  %4.1f%% %-9s %7.0f%% %8.1f %8.1f %8.1f %8.1f%%\n", loss * 100,
                mode == prompt ? "prompt" : "ordinary", share * 100, beside.p50, beside.p99,
                beside.worst, overhead * 100);
    expect_documented(kSection, documented, 3, {beside.p50});
    expect_documented(kSection, documented, 4, {beside.p99});
    expect_documented(kSection, documented, 5, {beside.worst});
    expect_documented(kSection, documented, 6, {overhead * 100});
    return std::pair(beside.p99, overhead);
  };
  row(0, ordinary, 0, "0% | ordinary");
  row(0.01, ordinary, 0, "1% | ordinary");
  row(0.01, prompt, 0.04, "1% | prompt | 4%");
  row(0.01, prompt, 0.12, "1% | prompt | 12%");
  row(0.01, prompt, 0.25, "1% | prompt | 25%");
  const auto [p99, overhead] = row(0.01, prompt, 0, "1% | prompt | default");
  EXPECT_LT(p99, 50);
  EXPECT_LE(overhead, 0.10);
  EXPECT_LT(row(0.05, prompt, 0, "5% | prompt | default").first, 200);
}

// Bytes behind a loss wait for it: for a round trip and more, or until the next repair.
std::uint64_t most_stored(double loss, config::DeliveryMode delivery) {
  LinkSpec link;
  link.rate = BitRate::bits_per_second(static_cast<std::int64_t>(options().memory_rate));
  link.loss = loss;
  Scenario scenario = make_lab(1, link);
  for (Station& station : scenario.stations) {
    station.cable.rate =
        BitRate::bits_per_second(static_cast<std::int64_t>(options().memory_rate * 4));
    station.hosts[0].tcp.send_limit = station.hosts[0].tcp.receive_limit = 16 << 20;
  }
  config::Rule rule;
  rule.modes.delivery = delivery;
  scenario.rules = {rule};
  const std::uint64_t bytes = link.rate.bytes_in(Duration::milliseconds(2500)).value();
  add_flow(scenario, Side::kA, sender(bytes), receiver());
  Tracer tracer;
  Network network(scenario, tracer);
  std::uint64_t most = 0;
  std::uint64_t sum = 0;
  std::uint64_t samples = 0;
  network.run_for(Duration::milliseconds(6500));  // The loss is known by then.
  for (int i = 0; i < 100; ++i) {
    network.run_for(Duration::milliseconds(10));
    const std::uint64_t stored = network.gateway(Side::kB).engine().peers()[0].bytes_stored;
    most = std::max(most, stored);
    sum += stored;
    ++samples;
  }
  EXPECT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(60)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  std::printf("  %5.0f Mbit/s, %4.1f%% loss, %-8s stored at most %8.2f MB, on the mean %8.2f MB\n",
              static_cast<double>(options().memory_rate) / 1e6, loss * 100,
              delivery == config::DeliveryMode::kPrompt ? "prompt" : "ordinary",
              static_cast<double>(most) / 1e6, static_cast<double>(sum / samples) / 1e6);
  return most;
}

TEST(PromptDelivery, ReceiversNeedLessMemory) {
  for (const double loss : {0.01, 0.10}) {
    const std::uint64_t ordinary = most_stored(loss, config::DeliveryMode::kOrdinary);
    const std::uint64_t prompt = most_stored(loss, config::DeliveryMode::kPrompt);
    EXPECT_LT(prompt, ordinary / 10);
    if (options().memory_rate != Options().memory_rate) continue;
    const std::string row = loss < 0.05 ? "100 Mbit/s | 1%" : "100 Mbit/s | 10%";
    expect_documented(kSection, row, 2, {static_cast<double>(ordinary) / 1e6});
    expect_documented(kSection, row, 3, {static_cast<double>(prompt) / 1e6});
  }
}

}  // namespace
}  // namespace satrelay::sim::prompt_delivery_test
