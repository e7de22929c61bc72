// Draws the parts of random scenarios from a seeded generator. Each part is plausible for a real
// station, link or program. A change to the drawn values, or to their order, changes the scenarios
// of all seeds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/random.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

// Draws a value with a uniformly distributed logarithm: a value between 1 and 10 is as likely as a
// value between 10 and 100.
double log_uniform(Random& random, double low, double high);
// Both bounds are included.
Duration random_milliseconds(Random& random, std::uint64_t low, std::uint64_t high);
Side random_side(Random& random);
Instant random_instant(Random& random);  // an instant while transfers are in progress

// random_link() draws a satellite link with faults, and random_cable() draws a host's cable.
config::LinkDirection random_link(Random& random, BitRate rate, Duration delay);
config::LinkDirection random_cable(Random& random);
// Varies the TCP of a host: segment size, buffers, options.
void vary_stack(Random& random, HostSpec& host);

struct DrawnPlans {
  Plan client;
  Plan server;
};
// Draws the plans of two programs for a connection with at most `most` bytes in each direction.
DrawnPlans random_plans(Random& random, std::uint64_t most);

config::FlowModes random_modes(Random& random);
// Adds vanishing hosts, outages, restarts, and hosts that run short of memory.
void add_faults(Random& random, Scenario& scenario, std::size_t hosts);

}  // namespace satrelay::sim
