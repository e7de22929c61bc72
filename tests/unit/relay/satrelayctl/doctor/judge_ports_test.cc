#include <gmock/gmock.h>

#include "tests/unit/relay/satrelayctl/doctor/sample_facts.h"

namespace satrelay::ctl::doctor::judge_ports_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(JudgePorts, AHealthyPairHasNoFinding) {
  EXPECT_THAT(judge_ports(sample_facts()), IsEmpty());
  EXPECT_THAT(judge_ports(sample_facts_of_file()), IsEmpty());
}

TEST(JudgePorts, TheInterfacesAreJudgedWithAndWithoutAGateway) {
  Facts facts = sample_facts_of_file();
  facts.machine.wan->foreign_master = "bridge br0";
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("port_in_bridge"));
  facts.gateway = sample_gateway();
  facts.machine.lan->merge_offloads = {"gro"};
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("port_merges", "port_in_bridge"));
}

TEST(JudgePorts, AnInterfaceOfAnotherNamespaceIsNoFault) {
  Facts facts = sample_facts();
  facts.machine.lan->exists = false;
  const auto findings = judge_ports(facts);
  EXPECT_EQ(find_check(findings, "port_not_visible").severity, ops::Severity::kInfo);
  EXPECT_EQ(findings.size(), 1U);
  // The gateway has lost it, too.
  facts.gateway->ports["lan"]["link"] = "gone";
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("port_missing"));
}

TEST(JudgePorts, WithoutAFileTheGatewayTellsTheLink) {
  Facts facts = sample_facts();
  facts.file = {};
  facts.machine = {};
  facts.gateway->ports["wan"]["link"] = "down";
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("port_no_carrier"));
}

TEST(JudgePorts, TheWrongWayRound) {
  Facts facts = sample_facts();
  counters_of(facts)["dropped_forged_gateway"] = 4U;
  // The peer is alive, so it is a host that forges.
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("gateway_forged"));
  peer_of(facts)["state"] = "connecting";
  const auto finding = find_check(judge_ports(facts), "ports_exchanged");
  EXPECT_EQ(finding.severity, ops::Severity::kError);
  EXPECT_THAT(finding.cure, HasSubstr("exchange ports.lan and ports.wan"));
}

TEST(JudgePorts, HostsOfTheOtherSideAreOnTheWrongPort) {
  Facts facts = sample_facts();
  peer_of(facts)["state"] = "connecting";
  counters_of(facts)["bridged_foreign_source"] = 2U;
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("ports_exchanged"));
  // They came before the earlier reading, and none has come since.
  facts.gateway->earlier_counters = counters_of(facts);
  EXPECT_THAT(judge_ports(facts), IsEmpty());
}

TEST(JudgePorts, CountersOfAPort) {
  Facts facts = sample_facts();
  facts.gateway->ports["lan"]["rx_missed"] = 4U;
  EXPECT_THAT(judge_ports(facts), IsEmpty()) << "4 of 5,000 frames";
  facts.gateway->ports["lan"]["rx_missed"] = 400U;
  facts.gateway->ports["wan"]["rx_merged"] = 1U;
  facts.gateway->ports["wan"]["rx_errors"] = 300U;
  EXPECT_THAT(names_of(judge_ports(facts)),
              ElementsAre("frames_missed", "frames_merged", "port_errors"));
}

TEST(JudgePorts, CountersOfTheGateway) {
  Facts facts = sample_facts();
  counters_of(facts)["stations_on_both_sides"] = 1U;
  EXPECT_THAT(judge_ports(facts), IsEmpty()) << "a host that has moved";
  counters_of(facts)["stations_on_both_sides"] = 9U;
  counters_of(facts)["address_conflicts"] = 1U;
  counters_of(facts)["dropped_unfinished_checksum"] = 1U;
  EXPECT_THAT(names_of(judge_ports(facts)),
              ElementsAre("station_on_both_sides", "address_conflict", "checksums_unfinished"));
}

TEST(JudgePorts, LongFramesAreAFaultOfUnlikeMtus) {
  Facts facts = sample_facts();
  counters_of(facts)["dropped_too_long"] = 7U;
  EXPECT_THAT(judge_ports(facts), IsEmpty());
  facts.gateway->ports["lan"]["mtu_bytes"] = 9000U;
  EXPECT_THAT(find_check(judge_ports(facts), "mtus_differ").seen, HasSubstr("9000"));
}

}  // namespace
}  // namespace satrelay::ctl::doctor::judge_ports_test
