// The share of the link that a bulk transfer gets, in virtual time, so the figures are exact and
// repeat.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "pep/stp/wire/packet.h"
#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"

namespace satrelay::sim::goodput_test {
namespace {

struct Row {
  std::uint64_t bytes;
  double loss;
  double least_share;
  const char* documented = "";  // Its row in docs/measurements.md.
};

struct Measured {
  double seconds = 0;
  double bound = 0;
  double share() const { return bound / seconds; }
};

// Payload of a full STP packet as a share of what the link counts for the packet.
double payload_share(std::uint32_t stp_header_bytes) {
  constexpr double kIpPacket = 1500, kIpAndUdp = 28, kEthernet = config::kOverheadEthernet;
  return (kIpPacket - kIpAndUdp - stp_header_bytes) / (kIpPacket + kEthernet);
}

// Header and CRC of a packet; type, stream and offset of its DATA frame (docs/stp-wire.md).
constexpr std::uint32_t kStpHeaders = stp::kHeaderSize + stp::kTrailerSize + 1 + 1 + 4;

Measured measure(const Row& row, Side client_side, std::uint64_t seed) {
  LinkSpec link;
  link.loss = row.loss;
  Scenario scenario = make_lab(seed, link);
  for (Station& station : scenario.stations) {
    station.hosts[0].tcp.send_limit = 4 << 20;
    station.hosts[0].tcp.receive_limit = 4 << 20;
  }
  add_flow(scenario, client_side, requester(100), responder(100, row.bytes));
  Tracer tracer;
  Network network(scenario, tracer);
  const bool over = network.run_until_flows_over(Instant() + Duration::seconds(600));
  EXPECT_TRUE(over);
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  EXPECT_EQ(network.bridged_tcp(), 0U);
  const Outcome& client = network.flow(0).client;
  Measured measured;
  measured.seconds = (client.saw_end_at - client.started_at).to_seconds();
  const double rate = static_cast<double>(link.rate.to_bits_per_second());
  measured.bound =
      2 * link.one_way_delay.to_seconds() +
      static_cast<double>(row.bytes) * 8 / (rate * (1 - row.loss) * payload_share(kStpHeaders));
  return measured;
}

// The runs of several seeds, fastest first. The packets that are lost at the very end decide about
// an RTT or two. So a single run says little about a short transfer.
std::vector<Measured> measure_all(const Row& row, Side client_side, std::uint64_t seeds) {
  std::vector<Measured> runs;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    runs.push_back(measure(row, client_side, seed));
    EXPECT_LE(runs.back().share(), 1.0) << "faster than the link can be: the measurement is wrong";
  }
  std::ranges::sort(runs, {}, &Measured::seconds);
  return runs;
}

TEST(Goodput, BulkTransferComesNearThePayloadBound) {
  const Row rows[] = {{20'000'000, 0.00, 0.90, "20 MB | 0%"},
                      {20'000'000, 0.01, 0.83, "20 MB | 1%"},
                      {20'000'000, 0.05, 0.72, "20 MB | 5%"},
                      {100'000'000, 0.01, 0.90, "100 MB | 1%"}};
  std::printf("  50 Mbit/s, RTT 550 ms\n  %10s %6s %6s %9s %9s %9s %7s %9s\n", "bytes", "loss",
              "way", "seconds", "slowest", "bound", "share", "Mbit/s");
  for (const Row& row : rows) {
    for (const Side client_side : {Side::kA, Side::kB}) {
      const std::vector<Measured> runs = measure_all(row, client_side,
                                                     row.loss == 0            ? 1
                                                     : row.bytes > 50'000'000 ? 3
                                                                              : 9);
      const Measured& median = runs[runs.size() / 2];
      std::printf("  %10llu %5.1f%% %6s %9.3f %9.3f %9.3f %6.1f%% %9.2f\n",
                  static_cast<unsigned long long>(row.bytes), row.loss * 100,
                  client_side == Side::kA ? "b>a" : "a>b", median.seconds, runs.back().seconds,
                  median.bound, median.share() * 100,
                  static_cast<double>(row.bytes) * 8 / median.seconds / 1e6);
      if (client_side == Side::kA) {
        expect_documented("A file over GEO: 50 Mbit/s, 550 ms", row.documented, 5,
                          {median.share() * 100});
      }
      EXPECT_GE(median.share(), row.least_share) << row.bytes << " bytes at loss " << row.loss;
      // A lost OPEN, or a tail that is lost twice, costs no more than the time of a probe.
      EXPECT_LE(runs.back().seconds, median.seconds + 2.5);
    }
  }
}

TEST(Goodput, HundredParallelDownloadsFillTheLink) {
  LinkSpec link;
  link.loss = 0.01;
  Scenario scenario = make_lab(2, link, 4);
  for (std::size_t i = 0; i < 100; ++i) {
    FlowSpec& flow = add_flow(scenario, Side::kA, requester(200), responder(200, 100'000));
    flow.client_host = i % 4;
    flow.server_host = i / 4 % 4;
  }
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(120)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  EXPECT_EQ(network.counted(gateway::Counter::kFlowsEstablished), 100U);
  Instant last;
  for (std::size_t i = 0; i < 100; ++i) last = later(last, network.flow(i).client.saw_end_at);
  // 10 MB need 1.7 s and a round trip; lost tails cost up to two more.
  const double seconds = (last - network.flow(0).client.started_at).to_seconds();
  std::printf("  100 downloads of 100 KB: %.3f s\n", seconds);
  EXPECT_LT(seconds, 0.55 * 3 + 1.75 + 0.3);
}

TEST(Goodput, TransfersInBothDirectionsDoNotSlowEachOther) {
  LinkSpec link;
  Scenario scenario = make_lab(3, link);
  add_flow(scenario, Side::kA, requester(100), responder(100, 10'000'000));
  add_flow(scenario, Side::kB, requester(100), responder(100, 10'000'000));
  Tracer tracer;
  Network network(scenario, tracer);
  ASSERT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(120)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  const double bound = 0.55 + 10'000'000 * 8.0 / (50e6 * payload_share(kStpHeaders));
  for (std::size_t i = 0; i < 2; ++i) {
    const Outcome& client = network.flow(i).client;
    EXPECT_GE(bound / (client.saw_end_at - client.started_at).to_seconds(), 0.88) << "flow " << i;
  }
}

}  // namespace
}  // namespace satrelay::sim::goodput_test
