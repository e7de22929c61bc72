// What relay/dpdk decides without a device: arguments, sizes, pauses.
#include <gtest/gtest.h>

#include <algorithm>

#include "relay/dpdk/device_arguments.h"
#include "relay/dpdk/eal.h"
#include "relay/dpdk/frame_ring_size.h"
#include "relay/dpdk/poll_loop.h"

namespace satrelay::dpdk {
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

TEST(DeviceArguments, NameTheDriverAndItsDevice) {
  config::Port port;
  port.interface = "lan0";
  EXPECT_EQ(device_arguments("lan", port).device, "net_af_packet_lan");
  EXPECT_TRUE(device_arguments("lan", port).arguments.starts_with("iface=lan0,blocksz=65536,"));
  port.driver = config::Driver::kAfXdp;
  EXPECT_EQ(device_arguments("lan", port).device, "net_af_xdp_lan");
  EXPECT_EQ(describe(port), "af_xdp on lan0");
  port.driver = config::Driver::kMemif;
  port.socket = "/run/m.sock";
  port.memif_server = true;
  EXPECT_TRUE(
      device_arguments("wan", port).arguments.starts_with("role=server,socket=/run/m.sock"));
  port.driver = config::Driver::kPci;
  port.pci = "0000:01:00.0";
  EXPECT_EQ(device_arguments("wan", port).device, "0000:01:00.0");
}

TEST(FrameRingSize, FitsTheFrameAndTheKernelsRules) {
  for (const unsigned mtu : {576U, 1500U, 1960U, 1961U, 2000U, 4000U, 8999U, 9000U}) {
    const auto size = FrameRingSize::for_mtu(static_cast<std::uint16_t>(mtu));
    EXPECT_GE(size.frame_size, 66 + 14 + 8 + mtu);
    EXPECT_EQ(size.frame_size % 16, 0U);    // TPACKET_ALIGNMENT
    EXPECT_EQ(size.block_size % 4096, 0U);  // pages
    EXPECT_EQ(size.block_size % size.frame_size, 0U) << "slots must follow each other";
    EXPECT_EQ(size.frame_count % (size.block_size / size.frame_size), 0U);
  }
}

Instant at(std::int64_t microseconds) { return Instant() + Duration::microseconds(microseconds); }

TEST(IdlePolicy, BusyNeverPauses) {
  const IdlePolicy policy(config::Polling::kBusy, true);
  EXPECT_EQ(policy.pause(at(1'000'000), Instant::never()).kind, Pause::Kind::kNone);
}

TEST(IdlePolicy, NapsShortlyWhileThereIsTrafficAndThenWaits) {
  IdlePolicy policy(config::Polling::kAdaptive, true);
  policy.on_work(at(0));
  const Pause active = policy.pause(at(500), Instant::never());
  EXPECT_EQ(active.kind, Pause::Kind::kNap);
  EXPECT_LE(active.length, Duration::microseconds(100));
  const Pause idle = policy.pause(at(5'000), Instant::never());
  EXPECT_EQ(idle.kind, Pause::Kind::kWait);
  EXPECT_GE(idle.length, Duration::milliseconds(100));
  EXPECT_LE(idle.length, Duration::milliseconds(500)) << "a stop signal would go unnoticed";
}

TEST(IdlePolicy, NapsGrowWherePortsCannotWake) {
  IdlePolicy policy(config::Polling::kAdaptive, false);
  policy.on_work(at(0));
  Duration last;
  for (const std::int64_t idle : {500, 50'000, 5'000'000}) {
    const Pause pause = policy.pause(at(idle), Instant::never());
    EXPECT_EQ(pause.kind, Pause::Kind::kNap);
    EXPECT_GT(pause.length, last);
    last = pause.length;
  }
  EXPECT_LE(last, Duration::milliseconds(1));
}

TEST(IdlePolicy, NeverSleepsPastTheNextTimeout) {
  for (const bool can_wake : {false, true}) {
    IdlePolicy policy(config::Polling::kAdaptive, can_wake);
    policy.on_work(at(0));
    for (const std::int64_t idle : {10, 5'000, 5'000'000}) {
      EXPECT_EQ(policy.pause(at(idle), at(idle + 7)).length, Duration::microseconds(7));
      EXPECT_EQ(policy.pause(at(idle), at(idle)).kind, Pause::Kind::kNone);
      EXPECT_EQ(policy.pause(at(idle), at(idle - 5)).kind, Pause::Kind::kNone);
    }
  }
}

}  // namespace
}  // namespace satrelay::dpdk
