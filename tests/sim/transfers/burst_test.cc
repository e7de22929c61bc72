// Frames that a gateway handles or returns together fare as they do one by one. The same frames
// leave it, octet for octet and at the same instants. For half a minute the gateways run only every
// 200 us, so that frames gather in their rings.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pep/wire/ethernet.h"
#include "relay/sim/checks/checks.h"
#include "relay/sim/checks/watch.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/profile.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::burst_test {
namespace {

void gather(Scenario& scenario, Verbs verbs) {
  for (Station& station : scenario.stations) {
    station.machine.starvations = {{.when = Instant(),
                                    .length = Duration::seconds(30),
                                    .period = Duration::microseconds(200),
                                    .runs = Duration::microseconds(1)}};
    station.machine.verbs = verbs;
  }
}

// `link` is a hash over all frames that enter the link and their times (FNV-1a). `counters` are the
// gateways' own counters.
struct Record {
  std::uint64_t link = 0xcbf29ce484222325U;
  std::uint64_t frames = 0;
  std::vector<std::uint64_t> counters;
  std::vector<std::string> broken;
  friend bool operator==(const Record&, const Record&) = default;
};

Record record_of(Scenario scenario, Verbs verbs) {
  gather(scenario, verbs);
  Tracer tracer;
  Network network(scenario, tracer);
  Record record;
  const auto add = [&](std::uint64_t value) {
    record.link = (record.link ^ value) * 0x100000001B3U;
  };
  network.satellite().on_frame([&](unsigned from, ConstBytes frame) {
    ++record.frames;
    add(from);
    add(static_cast<std::uint64_t>(network.loop().now().to_nanoseconds()));
    for (const std::byte octet : frame) add(static_cast<std::uint8_t>(octet));
  });
  record.broken = run_and_check(network);
  for (const auto& field : gateway::Counters::kFields) {
    record.counters.push_back(network.counted(field.member));
  }
  return record;
}

// Mixed flows, fragments, frames that are bridged, dropped or held, hosts that forge, a peer that
// sends arbitrary packets, little memory, loss, restarts.
TEST(Burst, IsTheSameAsFrameByFrame) {
  for (const Profile profile : {Profile::kUsual, Profile::kMemory, Profile::kHostilePeer,
                                Profile::kHostileLan, Profile::kMixed, Profile::kWorkers}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const Scenario scenario = random_scenario(profile, seed);
      const Record together = record_of(scenario, Verbs::kBursts);
      const Record single = record_of(scenario, Verbs::kSingle);
      EXPECT_GT(together.frames, 0U);
      EXPECT_EQ(together.broken, std::vector<std::string>())
          << name_of(profile) << ", seed " << seed;
      EXPECT_EQ(together.counters, single.counters) << name_of(profile) << ", seed " << seed;
      EXPECT_TRUE(together == single) << name_of(profile) << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace satrelay::sim::burst_test
