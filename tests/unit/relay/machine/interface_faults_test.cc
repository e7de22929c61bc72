#include "relay/machine/interface_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace satrelay::machine::interface_faults_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

config::Port port() {
  config::Port port;
  port.interface = "eth1";
  return port;
}

InterfaceFacts healthy() {
  return {.exists = true,
          .is_enabled = true,
          .is_running = true,
          .mtu = 1508,
          .megabits = 1000,
          .foreign_master = {},
          .merge_offloads = {}};
}

// The only finding.
Finding only(const Findings& findings) {
  EXPECT_EQ(findings.size(), 1U);
  return findings.empty() ? Finding() : findings.front();
}

Finding fault(const InterfaceFacts& facts, Use use = Use::kRunning) {
  return only(judge_interface("lan", port(), facts, use));
}

TEST(InterfaceFaults, NothingIsWrongWithAHealthyInterface) {
  EXPECT_THAT(judge_interface("lan", port(), healthy(), Use::kRunning), IsEmpty());
  EXPECT_THAT(judge_interface("lan", port(), healthy(), Use::kBeforeStart), IsEmpty());
}

TEST(InterfaceFaults, AnAbsentInterfaceIsTheOnlyFinding) {
  const Finding finding = fault({});
  EXPECT_EQ(finding.check, "port_missing");
  EXPECT_EQ(finding.severity, ops::Severity::kError);
  EXPECT_THAT(finding.seen, HasSubstr("eth1"));
  EXPECT_THAT(finding.cure, HasSubstr("ports.lan.interface"));
}

TEST(InterfaceFaults, AForeignMasterIsNamedWithItsCure) {
  InterfaceFacts facts = healthy();
  facts.foreign_master = "bond bond0";
  for (const Use use : {Use::kBeforeStart, Use::kRunning}) {
    const Finding finding = fault(facts, use);
    EXPECT_EQ(finding.check, "port_in_bridge");
    EXPECT_THAT(finding.seen, HasSubstr("bond bond0"));
    EXPECT_EQ(finding.cure, "ip link set eth1 nomaster");
  }
}

TEST(InterfaceFaults, TheBridgeOfTheSupervisorIsAFaultOnlyBesideAGateway) {
  InterfaceFacts facts = healthy();
  facts.is_in_wire_bridge = true;
  EXPECT_THAT(judge_interface("lan", port(), facts, Use::kBeforeStart), IsEmpty());
  EXPECT_EQ(fault(facts).check, "port_still_joined");
}

TEST(InterfaceFaults, TheStartSwitchesAnInterfaceOn) {
  InterfaceFacts facts = healthy();
  facts.is_enabled = facts.is_running = false;
  EXPECT_THAT(judge_interface("lan", port(), facts, Use::kBeforeStart), IsEmpty());
  const Finding finding = fault(facts);
  EXPECT_EQ(finding.check, "port_down");
  EXPECT_EQ(finding.cure, "ip link set eth1 up");
}

TEST(InterfaceFaults, ACableThatIsOut) {
  InterfaceFacts facts = healthy();
  facts.is_running = false;
  EXPECT_EQ(fault(facts, Use::kBeforeStart).check, "port_no_carrier");
  EXPECT_EQ(fault(facts).severity, ops::Severity::kError);
}

TEST(InterfaceFaults, HalfDuplexIsAWarning) {
  InterfaceFacts facts = healthy();
  facts.is_half_duplex = true;
  EXPECT_EQ(fault(facts).check, "port_half_duplex");
  EXPECT_EQ(fault(facts).severity, ops::Severity::kWarning);
}

TEST(InterfaceFaults, AnMtuBelowTheFileIsWorseOnceTheGatewayRuns) {
  InterfaceFacts facts = healthy();
  facts.mtu = 1400;
  EXPECT_EQ(fault(facts, Use::kBeforeStart).severity, ops::Severity::kWarning);
  EXPECT_THAT(fault(facts, Use::kBeforeStart).cure, HasSubstr("ports.lan.mtu: 1400"));
  EXPECT_EQ(fault(facts).severity, ops::Severity::kError);
  EXPECT_EQ(fault(facts).cure, "ip link set eth1 mtu 1500");
}

TEST(InterfaceFaults, TheStartSwitchesMergingOff) {
  InterfaceFacts facts = healthy();
  facts.merge_offloads = {"gro", "rx-gro-list"};
  EXPECT_THAT(judge_interface("lan", port(), facts, Use::kBeforeStart), IsEmpty());
  EXPECT_EQ(fault(facts).cure, "ethtool -K eth1 gro off rx-gro-list off");
}

}  // namespace
}  // namespace satrelay::machine::interface_faults_test
