// Draws the parts of random scenarios from seeded numbers. Each part is plausible for a real
// station, link or program. A change of the values drawn, or of their order, changes the scenario
// of every seed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/random.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

// Draws a value whose logarithm is uniformly distributed: values between 1 and 10 are as likely as
// values between 10 and 100.
double log_uniform(Random& random, double low, double high);
Duration random_milliseconds(Random& random, std::uint64_t low, std::uint64_t high);  // inclusive
Side random_side(Random& random);
Instant random_instant(Random& random);  // while transfers are in progress

// random_link() draws a satellite link with faults, and random_cable() draws a host's cable.
config::LinkDirection random_link(Random& random, BitRate rate, Duration delay);
config::LinkDirection random_cable(Random& random);
// Varies a host's TCP: segment size, buffers, options.
void vary_stack(Random& random, HostSpec& host);

struct DrawnPlans {
  Plan client;
  Plan server;
};
// The plans of two programs for a connection of at most `most` bytes in each direction.
DrawnPlans random_plans(Random& random, std::uint64_t most);

config::FlowModes random_modes(Random& random);
// Adds hosts that vanish, outages, restarts, and hosts that run short of memory.
void add_faults(Random& random, Scenario& scenario, std::size_t hosts);

}  // namespace satrelay::sim
