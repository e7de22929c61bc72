// The kinds of random scenarios that the soak runs. Each profile looks for faults in a different
// part of the gateway.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

enum class Profile : std::uint8_t {
  kUsual,        // various faults, for a few dozen flows (random_scenario.h)
  kMemory,       // many flows that compete for a small memory
  kHostilePeer,  // a peer with the right keys that sends any frames
  kHostileLan,   // a host on a LAN that forges frames
  kMixed,        // parts of all profiles above, combined
  kWorkers,      // kUsual and kMixed scenarios, with several workers
};

const char* name_of(Profile profile);
std::optional<Profile> parse_profile(std::string_view name);

// Returns the scenario of a seed. The same seed gives a different scenario in each profile.
Scenario random_scenario(Profile profile, std::uint64_t seed);

}  // namespace satrelay::sim
