// Keys of a port.
#include "config/read_common.h"

#include <gtest/gtest.h>

#include <string>

#include "config/error.h"
#include "config/loader.h"

namespace satrelay::config {
namespace {

std::string with_port(const std::string& keys) {
  return "ports: {lan: {interface: eth1" + keys +
         "}, wan: {interface: eth2}}\n"
         "gateway: {address: 192.0.2.1/30}\n"
         "links: {sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}\n"
         "peers: [{address: 192.0.2.2}]\n"
         "security: none\n";
}

std::string error_of(const std::string& keys) {
  try {
    parse_gateway(with_port(keys), "g.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(PortKey, LargeFramesAreSentUnlessItSaysNo) {
  EXPECT_TRUE(parse_gateway(with_port(""), "g.yaml").lan.large_frames);
  EXPECT_TRUE(parse_gateway(with_port(", large_frames: yes"), "g.yaml").lan.large_frames);
  EXPECT_FALSE(parse_gateway(with_port(", large_frames: no"), "g.yaml").lan.large_frames);
  EXPECT_TRUE(parse_gateway(with_port(", large_frames: no"), "g.yaml").wan.large_frames);
  EXPECT_EQ(error_of(", driver: af_xdp, large_frames: no"),
            "g.yaml:1:62: ports.lan.large_frames: contradicts driver af_xdp; only af_packet and "
            "pci send large frames");
  EXPECT_FALSE(
      parse_gateway(with_port(", driver: af_packet, large_frames: no"), "g.yaml").lan.large_frames);
  EXPECT_EQ(error_of(", large_frames: maybe"),
            "g.yaml:1:46: ports.lan.large_frames: \"maybe\" is not known here; allowed: yes, no");
}

}  // namespace
}  // namespace satrelay::config
