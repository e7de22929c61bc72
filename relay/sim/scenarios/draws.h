// What random scenarios are made of: parts drawn from seeded numbers, each as it may be found at a
// station, on a link or in a program. What is drawn, and in which order, is part of what a seed
// means.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/random.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

// As many between 1 and 10 as between 10 and 100.
double log_uniform(Random& random, double low, double high);
Duration random_milliseconds(Random& random, std::uint64_t low, std::uint64_t high);  // inclusive
Side random_side(Random& random);
Instant random_instant(Random& random);  // while transfers are under way

// A satellite link with faults, and a host's cable.
config::LinkDirection random_link(Random& random, BitRate rate, Duration delay);
config::LinkDirection random_cable(Random& random);
// A host's TCP: segment size, buffers, options.
void vary_stack(Random& random, HostSpec& host);

struct DrawnPlans {
  Plan client;
  Plan server;
};
// What two programs do with a connection, at most `most` bytes.
DrawnPlans random_plans(Random& random, std::uint64_t most);

config::FlowModes random_modes(Random& random);
// Hosts that vanish, outages, restarts, hosts that run short of memory.
void add_faults(Random& random, Scenario& scenario, std::size_t hosts);

}  // namespace satrelay::sim
