#include <gmock/gmock.h>

#include "tests/unit/relay/doctor/sample_facts.h"

namespace satrelay::ctl::doctor::judge_peers_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A peer that has not answered since the start.
Facts connecting() {
  Facts facts = sample_facts();
  peer_of(facts)["state"] = "connecting";
  peer_of(facts)["counters"] = Json::object();
  return facts;
}

// The only finding, which must be an error.
machine::Finding error_of(const Facts& facts) {
  const machine::Findings findings = judge_peers(facts);
  EXPECT_EQ(findings.size(), 1U);
  if (findings.empty()) return {};
  EXPECT_EQ(findings.front().severity, ops::Severity::kError);
  EXPECT_EQ(findings.front().subject, "peer ship");
  return findings.front();
}

TEST(JudgePeers, AHealthyPeerHasNoFinding) {
  EXPECT_THAT(judge_peers(sample_facts()), IsEmpty());
  EXPECT_THAT(judge_peers(sample_facts_of_file()), IsEmpty());
}

TEST(JudgePeers, SilenceIsNormalRightAfterTheStart) {
  Facts facts = connecting();
  facts.gateway->status["uptime_ms"] = 1500U;
  EXPECT_EQ(find_check(judge_peers(facts), "peer_greeting").severity, ops::Severity::kInfo);
}

TEST(JudgePeers, NoNextHop) {
  Facts facts = connecting();
  peer_of(facts)["next_hop"] = "unresolved";
  const auto finding = error_of(facts);
  EXPECT_EQ(finding.check, "peer_no_next_hop");
  EXPECT_THAT(finding.cure, HasSubstr("gateway.address 192.0.2.1, no next_hop, no vlan"));
  // A file that is not known names the keys only.
  facts.file = {};
  EXPECT_THAT(error_of(facts).cure, HasSubstr("gateway.vlan"));
}

TEST(JudgePeers, NoPacketsAtAll) {
  const auto finding = error_of(connecting());
  EXPECT_EQ(finding.check, "peer_no_packets");
  EXPECT_THAT(finding.cure, HasSubstr("UDP port 7878"));
}

TEST(JudgePeers, PacketsFromAnotherAddress) {
  Facts facts = connecting();
  counters_of(facts)["dropped_stp_unknown_peer"] = 12U;
  const auto findings = judge_peers(facts);
  EXPECT_THAT(names_of(findings), ElementsAre("peer_no_packets", "peer_other_address"));
  EXPECT_EQ(findings.back().severity, ops::Severity::kWarning) << "a stranger may have sent them";
  EXPECT_EQ(findings.back().subject, "peer ship");
  EXPECT_THAT(findings.back().seen, HasSubstr("12 dropped_stp_unknown_peer"));
  // The packets of the peer come from its address.
  peer_of(facts)["counters"]["packets_in"] = 5U;
  EXPECT_THAT(names_of(judge_peers(facts)), ElementsAre("peer_one_way"));
}

TEST(JudgePeers, PacketsToAnotherPort) {
  Facts facts = connecting();
  counters_of(facts)["dropped_to_gateway"] = 9U;
  const auto findings = judge_peers(facts);
  EXPECT_THAT(names_of(findings), ElementsAre("peer_no_packets", "peer_misdirected"));
  EXPECT_EQ(findings.back().severity, ops::Severity::kWarning);
}

TEST(JudgePeers, StrayPacketsAccuseNoPeerIfSeveralAreDown) {
  for (const char* counter : {"dropped_stp_unknown_peer", "dropped_to_gateway"}) {
    Facts facts = connecting();
    counters_of(facts)[counter] = 1U;
    Json other = peer_of(facts);
    other["name"] = "island";
    other["state"] = "suspect";
    facts.gateway->peers.push_back(other);
    const auto findings = judge_peers(facts);
    EXPECT_THAT(names_of(findings), ElementsAre("peer_no_packets", "peer_silent", "stray_packets"));
    EXPECT_EQ(findings.back().subject, "gateway");
    EXPECT_EQ(findings.back().severity, ops::Severity::kWarning);
    EXPECT_THAT(findings.back().seen, HasSubstr(std::string("1 ") + counter));
    // One of them is alive again, so only the other can have sent it.
    facts.gateway->peers[1]["state"] = "alive";
    EXPECT_THAT(names_of(judge_peers(facts)), testing::Contains("peer_no_packets"));
    EXPECT_THAT(names_of(judge_peers(facts)), testing::Not(testing::Contains("stray_packets")));
    EXPECT_EQ(judge_peers(facts).back().subject, "peer ship");
    facts.gateway->peers[0]["state"] = "alive";
    EXPECT_THAT(judge_peers(facts), IsEmpty());
  }
}

TEST(JudgePeers, OneDirectionOnly) {
  Facts facts = connecting();
  peer_of(facts)["counters"]["packets_in"] = 5U;
  EXPECT_EQ(error_of(facts).check, "peer_one_way");
}

TEST(JudgePeers, ExchangedPortsAreTheCause) {
  Facts facts = connecting();
  peer_of(facts)["next_hop"] = "unresolved";
  counters_of(facts)["dropped_forged_gateway"] = 3U;
  EXPECT_THAT(judge_peers(facts), IsEmpty());
}

TEST(JudgePeers, AnotherSecret) {
  Facts facts = connecting();
  peer_of(facts)["state"] = "wrong_key";
  peer_of(facts)["counters"]["not_authentic"] = 8U;
  const auto finding = error_of(facts);
  EXPECT_EQ(finding.check, "peer_wrong_key");
  EXPECT_THAT(finding.seen, HasSubstr("8 not_authentic"));
  EXPECT_THAT(finding.cure, HasSubstr("sha256sum"));
}

TEST(JudgePeers, TheReasonOfARefusal) {
  for (const auto& [counter, check] : {std::pair{"version_mismatch", "peer_other_version"},
                                       {"security_mismatch", "peer_unlike_security"},
                                       {"lanes_mismatch", "peer_unlike_workers"}}) {
    Facts facts = connecting();
    peer_of(facts)["state"] = "refused";
    peer_of(facts)["counters"][counter] = 2U;
    EXPECT_EQ(error_of(facts).check, check);
    // No greeting has come between the two readings.
    facts.gateway->earlier_peers = facts.gateway->peers;
    EXPECT_EQ(error_of(facts).check, check);
  }
}

TEST(JudgePeers, APeerThatIsSilentNow) {
  Facts facts = connecting();
  peer_of(facts)["state"] = "suspect";
  EXPECT_THAT(error_of(facts).cause, HasSubstr("link"));
  peer_of(facts)["counters"]["stale_epoch"] = 4U;
  EXPECT_THAT(error_of(facts).cause, HasSubstr("clock"));
  peer_of(facts)["state"] = "closed";
  EXPECT_EQ(error_of(facts).check, "peer_closed");
}

TEST(JudgePeers, TheCounterThatGrowsNamesThePresentCause) {
  Facts facts = connecting();
  peer_of(facts)["state"] = "wrong_key";
  peer_of(facts)["counters"] = Json::parse(R"({"not_authentic": 7, "security_mismatch": 2})");
  counters_of(facts)["dropped_to_gateway"] = 5U;
  facts.gateway->earlier_peers = facts.gateway->peers;
  facts.gateway->earlier_counters = facts.gateway->counters;
  EXPECT_EQ(error_of(facts).check, "peer_wrong_key") << "nothing grows, so the state holds";
  counters_of(facts)["dropped_to_gateway"] = 8U;
  EXPECT_THAT(names_of(judge_peers(facts)), ElementsAre("peer_wrong_key", "peer_misdirected"));
  peer_of(facts)["counters"]["security_mismatch"] = 4U;
  EXPECT_EQ(error_of(facts).check, "peer_unlike_security");
  // It had stopped in order, and greets with another secret now.
  peer_of(facts)["state"] = "closed";
  peer_of(facts)["counters"] = Json::parse(R"({"not_authentic": 9, "security_mismatch": 2})");
  EXPECT_EQ(error_of(facts).check, "peer_wrong_key");
}

TEST(JudgePeers, LossOfAFewPacketsIsChance) {
  Facts facts = sample_facts();
  peer_of(facts)["loss_ppm"] = 140'000U;
  peer_of(facts)["counters"]["packets_out"] = 7U;
  EXPECT_THAT(judge_peers(facts), IsEmpty());
}

TEST(JudgePeers, WarningsAboutALivingPeer) {
  Facts facts = sample_facts();
  peer_of(facts)["security"] = "none";
  peer_of(facts)["new_flows"] = "bypass";
  peer_of(facts)["loss_ppm"] = 90'000U;
  peer_of(facts)["flows_refused"] = 2U;
  EXPECT_THAT(names_of(judge_peers(facts)),
              ElementsAre("security_none", "peer_bypass", "much_loss", "flows_refused"));
}

TEST(JudgePeers, APathWithASmallerMtu) {
  Facts facts = sample_facts();
  peer_of(facts)["path_mtu_bytes"] = 1400U;
  EXPECT_THAT(judge_peers(facts), IsEmpty()) << "the search is not over";
  peer_of(facts)["counters"]["mtu_probes_lost"] = 3U;
  EXPECT_THAT(find_check(judge_peers(facts), "path_mtu_low").cure, HasSubstr("stp.mtu: 1400"));
}

}  // namespace
}  // namespace satrelay::ctl::doctor::judge_peers_test
