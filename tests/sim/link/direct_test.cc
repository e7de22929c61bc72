// The same hosts and flows over the same link without gateways. TCP runs from end to end through
// loss, late frames, duplicates and flipped bits: pep/tcp must survive these on its own.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "relay/sim/checks/checks.h"
#include "relay/sim/checks/trace.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/random_scenario.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/options.h"

namespace satrelay::sim::direct_test {
namespace {

TEST(Property, HostsAloneKeepTheSamePromises) {
  const std::uint64_t from = options().seed.value_or(options().from);
  const std::uint64_t count = options().seed ? 1 : options().seeds;
  for (std::uint64_t seed = from; seed < from + count; ++seed) {
    Tracer tracer;
    if (options().trace && options().seed) tracer.enable(stdout);
    Scenario scenario = random_scenario(seed);
    scenario.gateways_present = false;
    // RFC 9293 section 3.4.2. Behind a gateway the last ACK crosses only a LAN. Here a link that is
    // out may lose it again and again, and the peer repeats its FIN when the link is back.
    for (Station& station : scenario.stations) {
      for (HostSpec& host : station.hosts) host.tcp.time_wait = Duration::seconds(240);
    }
    Network network(scenario, tracer);
    const std::vector<std::string> broken = run_and_check(network);
    if (broken.empty()) continue;
    std::string text = scenario.summary() + "\n";
    for (const std::string& line : broken) text += "    " + line + "\n";
    ADD_FAILURE() << "seed " << seed << ": " << text
                  << "  replay: sim --gtest_filter=*HostsAlone* --seed " << seed << " --trace";
  }
}

}  // namespace
}  // namespace satrelay::sim::direct_test
