#include "relay/sim/scenarios/profile.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "relay/sim/scenarios/hostile_scenario.h"
#include "relay/sim/scenarios/memory_scenario.h"
#include "relay/sim/scenarios/random_scenario.h"
#include "relay/sim/scenarios/workers_scenario.h"

namespace satrelay::sim {
namespace {

// The names of the profiles, in the order of Profile.
constexpr std::array<const char*, 6> kNames = {"usual",       "memory", "hostile-peer",
                                               "hostile-lan", "mixed",  "workers"};

}  // namespace

const char* name_of(Profile profile) { return kNames[static_cast<std::size_t>(profile)]; }

std::optional<Profile> parse_profile(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Profile>(found - kNames.begin());
}

Scenario random_scenario(Profile profile, std::uint64_t seed) {
  switch (profile) {
    case Profile::kMemory:
      return memory_scenario(seed);
    case Profile::kHostilePeer:
      return hostile_peer_scenario(seed);
    case Profile::kHostileLan:
      return hostile_lan_scenario(seed);
    case Profile::kMixed:
      return mixed_scenario(seed);
    case Profile::kWorkers:
      return workers_scenario(seed);
    case Profile::kUsual:
      break;
  }
  return random_scenario(seed);
}

}  // namespace satrelay::sim
