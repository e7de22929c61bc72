// The draws of a seed for its hosts. A seed that failed once must give the same scenario for ever.
// So it draws the same values as before the tests' own hosts used CUBIC.
#include "relay/sim/scenarios/draws.h"

#include <gtest/gtest.h>

#include "relay/sim/scenarios/hostile_scenario.h"
#include "relay/sim/scenarios/memory_scenario.h"
#include "relay/sim/scenarios/random_scenario.h"

namespace satrelay::sim::draws_test {
namespace {

using control::Congestion;

TEST(Draws, TheSeedOfAHostDecidesItsCongestionControl) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Scenario& scenario : {random_scenario(seed), hostile_peer_scenario(seed)}) {
      for (const Station& station : scenario.stations) {
        for (const HostSpec& host : station.hosts) {
          EXPECT_EQ(host.tcp.congestion,
                    host.seed % 2 == 0 ? Congestion::kCubic : Congestion::kNewReno)
              << seed;
        }
      }
    }
  }
}

TEST(Draws, HostsBesideASmallMemoryUseNewReno) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const Station& station : memory_scenario(seed).stations) {
      for (const HostSpec& host : station.hosts) {
        EXPECT_EQ(host.tcp.congestion, Congestion::kNewReno) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace satrelay::sim::draws_test
