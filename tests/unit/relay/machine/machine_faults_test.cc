#include "relay/machine/machine_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/config/one_key.h"

namespace satrelay::machine::machine_faults_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
const StartMemory kNeeded{.arena = ByteCount(kGibibyte), .beside = ByteCount(kGibibyte / 16)};

MachineFacts healthy() {
  const InterfaceFacts interface {
    .exists = true, .is_enabled = true, .is_running = true, .mtu = 1500, .foreign_master = {},
    .merge_offloads = {}
  };
  MachineFacts facts{.lan = interface, .wan = interface, .cores = {}, .memory = {}};
  facts.cores.online = {0, 1};
  facts.memory = {.total = ByteCount(8 * kGibibyte),
                  .total_of = "this machine has",
                  .available = ByteCount(4 * kGibibyte),
                  .huge_total = ByteCount(0),
                  .huge_available = ByteCount(0)};
  return facts;
}

std::vector<std::string> checks(const std::string& line, const MachineFacts& facts) {
  std::vector<std::string> names;
  const config::Gateway config = config::parse_gateway(config::with_line(line), "g.yaml");
  for (const Finding& each : judge_before_start(config, kNeeded, facts)) {
    names.emplace_back(each.check);
  }
  return names;
}

TEST(MachineFaults, AHealthyMachineHasNone) { EXPECT_THAT(checks("", healthy()), IsEmpty()); }

TEST(MachineFaults, BothPortsAreJudged) {
  MachineFacts facts = healthy();
  facts.lan->exists = false;
  facts.wan->foreign_master = "bridge br0";
  EXPECT_THAT(checks("", facts), ElementsAre("port_missing", "port_in_bridge"));
}

TEST(MachineFaults, AnAddressOnALanThatIsSwitchedOff) {
  MachineFacts facts = healthy();
  facts.lan->has_address = true;
  EXPECT_THAT(checks("", facts), IsEmpty());
  EXPECT_THAT(checks("lan_follows_wan: yes", facts), ElementsAre("lan_has_management"));
  EXPECT_THAT(checks("lan_follows_wan: yes", healthy()), IsEmpty());
}

TEST(MachineFaults, ACoreThatIsNotThere) {
  EXPECT_THAT(checks("worker: {cpu: 7}", healthy()), ElementsAre("core_absent"));
}

TEST(MachineFaults, MemoryThatIsTooSmallOrInUse) {
  MachineFacts facts = healthy();
  facts.memory.available = ByteCount(kGibibyte / 2);
  EXPECT_THAT(checks("", facts), ElementsAre("memory_in_use"));
  facts.memory.total = ByteCount(kGibibyte);
  EXPECT_THAT(checks("", facts), ElementsAre("memory_too_small"));
}

TEST(MachineFaults, APciPortWithoutHugepages) {
  config::Gateway config = config::parse_gateway(config::with_line(""), "g.yaml");
  config.lan.driver = config::Driver::kPci;
  ASSERT_EQ(judge_hardware(config, healthy()).size(), 1U);
  EXPECT_EQ(judge_hardware(config, healthy()).front().check, "no_hugepages");
  MachineFacts facts = healthy();
  facts.memory.huge_total = ByteCount(kGibibyte);
  EXPECT_THAT(judge_hardware(config, facts), IsEmpty());
}

}  // namespace
}  // namespace satrelay::machine::machine_faults_test
