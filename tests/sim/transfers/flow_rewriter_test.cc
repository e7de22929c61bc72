// At random instants a flow is taken out of its gateway as an image, destroyed and read back. No
// frame of the link shows it. tests/bench/golden_run.py --images compares all frames of many seeds.
#include "relay/sim/checks/flow_rewriter.h"

#include <gtest/gtest.h>

#include "relay/sim/checks/trace.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/profile.h"
#include "tests/sim/trace_hash.h"

namespace satrelay::sim::flow_rewriter_test {
namespace {

std::uint64_t trace_of(const Scenario& scenario, FlowRewriter* rewriter) {
  Tracer tracer;
  Network network(scenario, tracer);
  for (const Side side : {Side::kA, Side::kB}) network.gateway(side).set_probe(rewriter);
  const TraceHash hash(network);
  network.run_until_flows_over(Instant() + Duration::seconds(30));
  return hash.value();
}

TEST(FlowRewriter, NoFrameShowsAnImage) {
  for (const Profile profile : {Profile::kUsual, Profile::kMemory, Profile::kHostilePeer,
                                Profile::kHostileLan, Profile::kMixed, Profile::kWorkers}) {
    constexpr std::uint64_t kSeed = 11;
    const Scenario scenario = random_scenario(profile, kSeed);
    FlowRewriter rewriter(2, kSeed);
    const std::uint64_t trace = trace_of(scenario, &rewriter);
    EXPECT_EQ(rewriter.broken(), std::vector<std::string>()) << name_of(profile);
    EXPECT_GT(rewriter.rewrites(), 1'000U) << name_of(profile);
    EXPECT_EQ(trace, trace_of(scenario, nullptr)) << name_of(profile);
  }
}

}  // namespace
}  // namespace satrelay::sim::flow_rewriter_test
