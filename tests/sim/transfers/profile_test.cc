// The soak's profiles. A seed keeps its meaning, and each hostile trick reaches the gateway that it
// is meant for. The tests are a program of their own, since they need little code.
#include "relay/sim/scenarios/profile.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pep/stp/session.h"
#include "relay/gateway/counters.h"
#include "relay/sim/adversaries/tricks.h"
#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/network/network_addresses.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/trace_hash.h"

namespace satrelay::sim::profile_test {
namespace {

using gateway::Counter;

std::uint64_t trace_of(Profile profile, std::uint64_t seed) {
  Tracer tracer;
  Network network(random_scenario(profile, seed), tracer);
  const TraceHash hash(network);
  network.run_until_flows_over(Instant() + Duration::seconds(30));
  return hash.value();
}

TEST(Profile, TheSameSeedRunsTheSame) {
  for (const Profile profile : {Profile::kUsual, Profile::kMemory, Profile::kHostilePeer,
                                Profile::kHostileLan, Profile::kMixed, Profile::kWorkers}) {
    const std::uint64_t once = trace_of(profile, 11);
    EXPECT_EQ(once, trace_of(profile, 11)) << name_of(profile);
    EXPECT_NE(once, trace_of(profile, 12)) << name_of(profile);
  }
}

TEST(Profile, HasANameThatIsUnderstood) {
  for (const Profile profile : {Profile::kUsual, Profile::kMemory, Profile::kHostilePeer,
                                Profile::kHostileLan, Profile::kMixed, Profile::kWorkers}) {
    EXPECT_EQ(parse_profile(name_of(profile)), profile);
  }
  EXPECT_EQ(parse_profile("other"), std::nullopt);
}

Scenario lab_with_flow() {
  LinkSpec link;
  link.one_way_delay = Duration::milliseconds(20);
  Scenario scenario = make_lab(3, link, 2);
  for (Station& station : scenario.stations) station.limits.memory = ByteCount(8 << 20);
  add_flow(scenario, Side::kA, requester(100), responder(100, 2'000'000));
  scenario.flows[0].server_plan.read_pause = Duration::seconds(2);
  return scenario;
}

// Counters of the victim about the hostile peer, when the peer's time is over.
struct Felt {
  stp::Counters session;
  stp::Counters honest;  // The session with the other peer.
  std::uint64_t from_peer = 0;
  std::uint64_t protocol = 0;
};

Felt felt_of(std::uint32_t tricks) {
  Scenario scenario = lab_with_flow();
  scenario.hostile_peer = HostilePeer{.victim = Side::kA,
                                      .seed = 5,
                                      .from = Instant() + Duration::seconds(2),
                                      .length = Duration::seconds(10),
                                      .packets = 400,
                                      .tricks = tricks};
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::milliseconds(11'900));
  Felt felt;
  for (const auto& peer : network.gateway(Side::kA).engine().peers()) {
    (peer.name == kHostileName ? felt.session : felt.honest) = peer.counters;
  }
  felt.from_peer = network.counted(Counter::kFlowsFromPeer);
  felt.protocol = network.counted(Counter::kFlowsResetProtocol);
  return felt;
}

TEST(HostilePeer, ItsTricksReachItsVictim) {
  struct Row {
    PeerTrick trick;
    std::function<bool(const Felt&)> is_felt;
  };
  const Row rows[] = {
      {PeerTrick::kOpens, [](const Felt& f) { return f.from_peer > 50; }},
      {PeerTrick::kData,
       [](const Felt& f) {
         return f.session.stream_bytes_in > 1'000 && f.session.credit_violations > 0;
       }},
      {PeerTrick::kEarlyEnds, [](const Felt& f) { return f.session.stream_bytes_in > 1'000; }},
      {PeerTrick::kReports,
       [](const Felt& f) { return f.session.feedback_in > 80; }},  // 52 without the trick.
      {PeerTrick::kResets, [](const Felt& f) { return f.session.streams_reset_in > 10; }},
      {PeerTrick::kConfirms, [](const Felt& f) { return f.session.confirmations_in > 50; }},
      {PeerTrick::kRates, [](const Felt& f) { return f.session.capacities_in > 50; }},
      {PeerTrick::kMessages, [](const Felt& f) { return f.session.streams_accepted > 50; }},
      {PeerTrick::kFlowLists, [](const Felt& f) { return f.session.streams_accepted > 50; }},
      {PeerTrick::kGreetings,
       [](const Felt& f) { return f.honest.newcomers > 50 && f.honest.peer_restarts == 0; }},
      {PeerTrick::kEpochs, [](const Felt& f) { return f.session.peer_restarts > 2; }},
      {PeerTrick::kUnknown, [](const Felt& f) { return f.session.unknown_frames > 20; }},
      {PeerTrick::kCodes,
       [](const Felt& f) {
         return f.session.repair_packets_in > 50 && f.session.repair_used > 5 &&
                f.session.repair_wasted > 20 && f.session.malformed > 10;
       }},
      {PeerTrick::kGarbage,
       [](const Felt& f) {
         return f.session.malformed > 10 && f.session.duplicate_packets_in > 0 &&
                f.session.bad_crc > 0;
       }},
  };
  for (const Row& row : rows) {
    const std::uint32_t tricks = bit(row.trick) | bit(PeerTrick::kOpens);
    EXPECT_TRUE(row.is_felt(felt_of(tricks))) << names_of_peer_tricks(bit(row.trick));
  }
}

// The forged frames that a gateway gets from its LAN beside the frames of the flow, as `felt`
// counts them.
std::uint64_t frames_forged(std::uint32_t tricks, Counter felt) {
  Scenario scenario = lab_with_flow();
  for (Station& station : scenario.stations) station.limits.half_open = 8;
  scenario.forgings = {{.side = Side::kA,
                        .seed = 5,
                        .from = Instant() + Duration::seconds(2),
                        .length = Duration::seconds(10),
                        .frames = 400,
                        .tricks = tricks}};
  Tracer tracer;
  Network network(scenario, tracer);
  network.run_for(Duration::milliseconds(11'900));
  return network.counted(felt);
}

TEST(Forger, ItsTricksReachTheGateway) {
  const auto all = every_trick<LanTrick>();
  for (std::uint32_t trick = 1; trick <= all; trick <<= 1U) {
    EXPECT_GT(frames_forged(trick, Counter::kLanFramesIn),
              frames_forged(0, Counter::kLanFramesIn) + 100)
        << names_of_lan_tricks(trick);
  }
  EXPECT_GT(frames_forged(bit(LanTrick::kFloods), Counter::kSynCookiesSent), 0U);
  EXPECT_GT(frames_forged(bit(LanTrick::kDisorder), Counter::kFlowsEstablished), 1U);
}

// Some seeds of each profile, so that the soak's profiles are known to run. `satlab soak` runs the
// rest.
TEST(Profile, AFewSeedsKeepAllPromises) {
  for (const Profile profile :
       {Profile::kMemory, Profile::kHostilePeer, Profile::kHostileLan, Profile::kMixed}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Tracer tracer;
      Network network(random_scenario(profile, seed), tracer);
      for (const std::string& broken : run_and_check(network)) {
        ADD_FAILURE() << name_of(profile) << ", seed " << seed << ": " << broken;
      }
    }
  }
}

}  // namespace
}  // namespace satrelay::sim::profile_test
