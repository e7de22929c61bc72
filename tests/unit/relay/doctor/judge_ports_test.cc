#include <gmock/gmock.h>

#include "tests/unit/relay/doctor/sample_facts.h"

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

TEST(JudgePorts, ALanThatFollowsTheWanIsSwitchedOffOnPurpose) {
  Facts facts = sample_facts("lan_follows_wan: yes");
  facts.machine.lan->is_enabled = facts.machine.lan->is_running = false;
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("port_down"));
  // Port wan has no link.
  facts.gateway->ports["wan"]["link"] = "down";
  facts.machine.wan->is_running = false;
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("lan_follows_wan", "port_no_carrier"));
  EXPECT_EQ(find_check(judge_ports(facts), "lan_follows_wan").severity, ops::Severity::kInfo);
  // Its link is back since 3 s; port lan follows after some seconds.
  facts.gateway->ports["wan"]["link"] = "up";
  facts.machine.wan->is_running = true;
  facts.gateway->events =
      Json::parse(R"([{"name": "port_up", "subject": "port wan", "time_ms": 1997000}])");
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("lan_follows_wan"));
  facts.now_ms += 10'000;
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("port_down"));
  // Without lan_follows_wan, another program has switched it off.
  facts.file = sample_file();
  facts.gateway->ports["wan"]["link"] = "down";
  EXPECT_THAT(names_of(judge_ports(facts)), ElementsAre("port_down"));
}

TEST(JudgePorts, CountsInTheSpanThatTheFactsHave) {
  Facts facts = sample_facts();
  counters_of(facts)["dropped_unfinished_checksum"] = 7U;
  facts.gateway->base_counters = counters_of(facts);
  facts.gateway->base_ports = facts.gateway->ports;
  facts.gateway->ports["wan"]["rx_errors"] = 0U;
  EXPECT_THAT(names_of(judge_ports(facts)), IsEmpty());
  counters_of(facts)["dropped_unfinished_checksum"] = 9U;
  facts.gateway->ports["wan"]["rx_errors"] = 5U;
  facts.gateway->span = "in the last 5 minutes";
  const auto findings = judge_ports(facts);
  EXPECT_THAT(find_check(findings, "checksums_unfinished").seen,
              HasSubstr("2 frames without a checksum were dropped in the last 5 minutes"));
  EXPECT_EQ(find_check(findings, "port_errors").seen, "5 receive errors in the last 5 minutes");
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
