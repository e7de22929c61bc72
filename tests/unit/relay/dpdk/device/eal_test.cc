// The arguments for the EAL.
#include "relay/dpdk/device/eal.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace satrelay::dpdk::eal_test {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

EalConfig eal_config() {
  EalConfig config;
  config.program = "satrelayd";
  config.file_prefix = "left";
  config.memory = std::size_t{100} << 20;
  config.ports.resize(2);
  return config;
}

TEST(EalArguments, UseNormalPagesWhereHugepagesDoNotSuffice) {
  const auto none = eal_arguments(eal_config(), {.free_hugepage_bytes = 0, .cpus = {0, 1}});
  EXPECT_TRUE(contains(none, "--no-huge"));
  EXPECT_FALSE(contains(none, "--in-memory"));  // DPDK refuses the two together
  const auto few = eal_arguments(eal_config(), {std::size_t{100} << 20, {0, 1}});
  EXPECT_TRUE(contains(few, "--no-huge")) << "DPDK's own needs are not counted";
  const auto many = eal_arguments(eal_config(), {std::size_t{1} << 30, {0, 1}});
  EXPECT_FALSE(contains(many, "--no-huge"));
  EXPECT_TRUE(contains(many, "--in-memory"));
}

TEST(EalArguments, LookAtThePciBusOnlyForPciPorts) {
  EalConfig config = eal_config();
  EXPECT_TRUE(contains(eal_arguments(config, {0, {0}}), "--no-pci"));
  config.ports[1].driver = config::Driver::kPci;
  config.ports[1].pci = "0000:01:00.0";
  const auto arguments = eal_arguments(config, {0, {0}});
  EXPECT_FALSE(contains(arguments, "--no-pci"));
  EXPECT_TRUE(contains(arguments, "--allow=0000:01:00.0"));
}

TEST(EalArguments, PinOnlyWhereAsked) {
  EalConfig config = eal_config();
  EXPECT_TRUE(contains(eal_arguments(config, {0, {0, 1, 5}}), "--lcores=0@(0,1,5)"));
  config.cpu = 5;
  EXPECT_TRUE(contains(eal_arguments(config, {0, {0, 1, 5}}), "--lcores=0@5"));
}

}  // namespace
}  // namespace satrelay::dpdk::eal_test
