// Properties that hold for any seed: every byte arrives once and in order, in both directions; the
// right side sees each end and reset; all memory is freed.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "relay/sim/checks/checks.h"
#include "relay/sim/checks/trace.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/random_scenario.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/options.h"

namespace satrelay::sim::property_test {
namespace {

std::vector<std::string> run_seed(std::uint64_t seed) {
  Tracer tracer;
  if (options().trace) tracer.enable(stdout);
  const Scenario scenario = random_scenario(seed);
  Network network(scenario, tracer);
  std::vector<std::string> broken = run_and_check(network);
  for (const std::string& line : stop_and_check_frames(network)) broken.push_back(line);
  if (options().seed) {
    std::printf("%s\n", scenario.summary().c_str());
    for (const auto& field : gateway::Counters::kFields) {
      if (network.counted(field.member) == 0) continue;
      std::printf("  %-32s %llu\n", field.name,
                  static_cast<unsigned long long>(network.counted(field.member)));
    }
    std::printf("  virtual time %.3f s, %llu runs\n",
                static_cast<double>(network.loop().now().to_nanoseconds()) / 1e9,
                static_cast<unsigned long long>(network.loop().runs()));
  }
  return broken;
}

TEST(Property, EveryByteOnceEveryEndSeenAllMemoryBack) {
  const std::uint64_t from = options().seed.value_or(options().from);
  const std::uint64_t count = options().seed ? 1 : options().seeds;
  for (std::uint64_t seed = from; seed < from + count; ++seed) {
    const std::vector<std::string> broken = run_seed(seed);
    if (broken.empty()) continue;
    std::string text = random_scenario(seed).summary() + "\n";
    for (const std::string& line : broken) text += "    " + line + "\n";
    ADD_FAILURE() << "seed " << seed << ": " << text << "  replay: sim --seed " << seed
                  << " --trace";
  }
}

TEST(Property, TheSameSeedRunsTheSame) {
  if (options().seed) GTEST_SKIP() << "one seed was asked for";
  for (std::uint64_t seed = options().from; seed < options().from + 3; ++seed) {
    std::uint64_t runs[2];
    std::int64_t ends[2];
    for (int i = 0; i < 2; ++i) {
      Tracer tracer;
      Network network(random_scenario(seed), tracer);
      network.run_until_flows_over(Instant() + Duration::seconds(60));
      runs[i] = network.loop().runs();
      ends[i] = network.loop().now().to_nanoseconds();
    }
    EXPECT_EQ(runs[0], runs[1]) << "seed " << seed;
    EXPECT_EQ(ends[0], ends[1]) << "seed " << seed;
  }
}

}  // namespace
}  // namespace satrelay::sim::property_test
