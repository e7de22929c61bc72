// The arguments with which DPDK opens a device.
#include "relay/dpdk/device/device_arguments.h"

#include <gtest/gtest.h>

namespace satrelay::dpdk::device_arguments_test {
namespace {

TEST(DeviceArguments, NameTheDriverAndItsDevice) {
  config::Port port;
  port.interface = "lan0";
  EXPECT_EQ(describe(port), "af_packet on lan0");
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

}  // namespace
}  // namespace satrelay::dpdk::device_arguments_test
