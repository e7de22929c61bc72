// The kinds of random scenarios that the soak runs: each hunts in another place.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

enum class Profile : std::uint8_t {
  kUsual,        // anything that may happen to a few dozen flows (random_scenario.h)
  kMemory,       // many flows that take turns to fill a small memory
  kHostilePeer,  // a peer with the right keys that says anything
  kHostileLan,   // a host on a LAN that forges
  kMixed,        // parts of all
  kWorkers,      // the usual and the mixed ones, gateways with several workers
};

const char* name_of(Profile profile);
std::optional<Profile> parse_profile(std::string_view name);

// The same seed means another scenario in each profile.
Scenario random_scenario(Profile profile, std::uint64_t seed);

}  // namespace satrelay::sim
