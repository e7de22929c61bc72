#include "config/outline/read_outline.h"

#include <gtest/gtest.h>

#include <string>

#include "config/text/error.h"

namespace satrelay::config::read_outline_test {
namespace {

constexpr const char* kPorts = R"(
ports:
  lan: {interface: eth1}
  wan: {pci: "0000:01:00.0", mtu: 9000}
)";

TEST(ReadOutline, TakesTheRestOfTheFileAsItIs) {
  const Outline outline =
      parse_outline(std::string("no_such_key: 1\nlinks: nonsense\nstats_socket_prefix: satrelay-b\n"
                                "lan_follows_wan: yes\n") +
                        kPorts,
                    "gateway.yaml");
  EXPECT_EQ(outline.lan.interface, "eth1");
  EXPECT_EQ(outline.wan.driver, Driver::kPci);
  EXPECT_EQ(outline.wan.mtu, 9000);
  EXPECT_EQ(outline.stats_socket_prefix, "satrelay-b");
  EXPECT_EQ(outline.control_socket, "");
  EXPECT_TRUE(outline.lan_follows_wan);
  EXPECT_EQ(parse_outline(kPorts, "gateway.yaml").stats_socket_prefix,
            Gateway().stats_socket_prefix);
}

TEST(ReadOutline, RefusesWrongPortsWithTheirPlace) {
  for (const char* text : {"", "links: {}", "ports: {lan: {interface: eth1}}", "ports: [1, 2]",
                           "ports: {lan: {interface: eth1}, wan: {interface: x/y}}",
                           "ports: {lan: {interface: eth1}, wan: {interface: eth2}",
                           "ports: {lan: {interface: eth1}, wan: {interface: eth1}}"}) {
    try {
      parse_outline(text, "gateway.yaml");
      ADD_FAILURE() << text;
    } catch (const ConfigError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("gateway.yaml", 0), 0U) << error.what();
    }
  }
}

}  // namespace
}  // namespace satrelay::config::read_outline_test
