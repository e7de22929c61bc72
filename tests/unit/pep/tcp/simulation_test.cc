// Properties over many seeds. Every byte arrives once and in order in both directions, both sides
// see the close, no run stalls, and all memory comes back.
#include "tests/unit/pep/tcp/simulation.h"

#include <algorithm>
#include <cstdlib>

#include "pep/base/random.h"
#include "tests/unit/pep/tcp/bulk_transfer.h"
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::simulation_test {
namespace {

constexpr std::uint64_t kSeeds = 500;

TEST(Simulation, RandomScenarios) {
  std::uint64_t first = 1;
  std::uint64_t last = kSeeds;
  if (const char* seed = std::getenv("SATRELAY_TCP_SEED")) {
    first = last = std::strtoull(seed, nullptr, 10);
  }
  if (const char* count = std::getenv("SATRELAY_TCP_SEEDS")) {
    last = std::strtoull(count, nullptr, 10);
  }
  std::uint64_t segments = 0;
  std::uint64_t timeouts = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const Scenario scenario = random_scenario(seed);
    Simulation simulation(scenario, seed);
    const Result result = simulation.run();
    ASSERT_EQ(result.failure, "") << "replay with SATRELAY_TCP_SEED=" << seed;
    segments += result.segments;
    timeouts += result.timeouts;
  }
  // The faults must have had an effect, or the test shows nothing.
  if (first != last) {
    EXPECT_GT(segments, 100 * kSeeds);
    EXPECT_GT(timeouts, kSeeds);
  }
}

// Without loss or reordering nothing may wait for a timer. A retransmission, a probe or a
// standstill would show that an endpoint has forgotten to send.
TEST(Simulation, CleanChannelNeedsNoTimeout) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Scenario scenario = random_scenario(seed);
    for (int host = 0; host < 2; ++host) {
      scenario.faults[host] = {0, 0, Duration::microseconds(200), Duration::zero()};
      scenario.blocks[host] = 1024;
      scenario.application[host].read_pause = Duration::zero();
      scenario.application[host].bytes_to_send = 60'000;
    }
    Simulation simulation(scenario, seed);
    const Result result = simulation.run();
    ASSERT_EQ(result.failure, "") << "seed " << seed;
    EXPECT_EQ(result.retransmissions, 0u) << "seed " << seed;
    for (const int host : {0, 1}) {
      EXPECT_EQ(simulation.endpoint(host).counters().zero_window_probes, 0u) << "seed " << seed;
    }
  }
}

// One side aborts in the middle. Without loss the other side must notice, in whatever order RST and
// data arrive. Both must give back all memory.
TEST(Simulation, AbortReachesThePeer) {
  std::uint64_t resets = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed ^ 0xab0);
    Scenario scenario = random_scenario(seed);
    for (int host = 0; host < 2; ++host) scenario.faults[host].loss = 0;
    scenario.aborting_host = static_cast<int>(random.below(2));
    scenario.abort_after = Duration::microseconds(static_cast<std::int64_t>(random.below(300'000)));
    if (scenario.aborting_host == 1) {  // the server exists only once it has the SYN
      scenario.abort_after = scenario.abort_after + scenario.faults[0].delay * 4;
    }
    Simulation simulation(scenario, seed);
    const Result result = simulation.run();
    ASSERT_EQ(result.failure, "") << "seed " << seed;
    resets += result.resets;
  }
  EXPECT_GT(resets, 50u);
}

// At random instants an endpoint is written, destroyed and read back. No segment may show it.
TEST(Simulation, EndpointsGoOnFromTheirImages) {
  std::uint64_t rewrites = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Scenario scenario = random_scenario(seed);
    const Result before = Simulation(scenario, seed).run();
    scenario.rewritten = 0.5;
    const Result after = Simulation(scenario, seed).run();
    ASSERT_EQ(after.failure, "") << "seed " << seed;
    ASSERT_EQ(after.digest, before.digest) << "seed " << seed;
    rewrites += after.rewrites;
  }
  EXPECT_GT(rewrites, 5'000U);
}

// Offsets beyond 32 bits: sequence numbers wrap, but positions must not.
TEST(Simulation, MoreThanFourGibibytes) {
  Scenario scenario;
  scenario.offer = {};
  scenario.offer.mss = 65'495;
  scenario.offer.window_scale = 7;
  scenario.offer.sack_permitted = true;
  for (int host = 0; host < 2; ++host) {
    scenario.config[host].mss = 65'495;
    scenario.config[host].initial_sequence = 0xffff'0000U;
    scenario.config[host].window_scale = 7;
    scenario.config[host].send_limit = 1 << 20;
    scenario.faults[host] = {0.0005, 0, Duration::microseconds(100), Duration::zero()};
    scenario.block_size[host] = 65'536;
    scenario.blocks[host] = 64;
  }
  BulkTransfer bulk(scenario, 1);
  EXPECT_EQ(bulk.run((std::uint64_t{1} << 32) + (64U << 20)), "");
  EXPECT_GT(bulk.retransmissions(), 10u);
}

}  // namespace
}  // namespace satrelay::tcp::test::simulation_test
