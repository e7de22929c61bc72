// Gain and cost of compression on a slow link, in virtual time, so the figures are exact.
#include <gtest/gtest.h>

#include <string>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/measurements.h"

namespace satrelay::sim::compression_test {
namespace {

// Seconds of a download of 20 MB at 10 Mbit/s, with an RTT of 550 ms.
double download(config::Compress compress, Content content) {
  LinkSpec link;
  link.rate = BitRate::bits_per_second(10'000'000);
  Scenario scenario = make_lab(1, link);
  scenario.rules = {config::Rule{}};
  scenario.rules[0].compress = compress;
  for (Station& station : scenario.stations) {
    station.hosts[0].tcp.send_limit = station.hosts[0].tcp.receive_limit = 4 << 20;
  }
  add_flow(scenario, Side::kA, requester(100), responder(100, 20'000'000), content);
  Tracer tracer;
  Network network(scenario, tracer);
  EXPECT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(600)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
  const Outcome& outcome = network.flow(0).client;
  return (outcome.saw_end_at - outcome.started_at).to_seconds();
}

TEST(Compression, TextCrossesASlowLinkAtLeastFourTimesFaster) {
  const double plain = download(config::Compress::kOff, Content::kText);
  const double compressed = download(config::Compress::kAuto, Content::kText);
  RecordProperty("plain_s", std::to_string(plain));
  RecordProperty("compressed_s", std::to_string(compressed));
  const std::string row = "synthetic text in simulation, exact";
  expect_documented("Compression", row, 1, {plain});
  expect_documented("Compression", row, 2, {compressed});
  EXPECT_GE(plain / compressed, 4) << plain << " s, " << compressed << " s";
}

TEST(Compression, RandomBytesLoseLessThanHalfAPercent) {
  const double plain = download(config::Compress::kOff, Content::kRandom);
  const double tried = download(config::Compress::kAuto, Content::kRandom);
  expect_documented("Compression", "random bytes, the same", 1, {plain});
  expect_documented("Compression", "random bytes, the same", 2, {tried});
  EXPECT_LE(tried / plain, 1.005) << plain << " s, " << tried << " s";
}

}  // namespace
}  // namespace satrelay::sim::compression_test
