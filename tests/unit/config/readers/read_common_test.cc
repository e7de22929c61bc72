// The keys of a port and of workers. A contradiction is refused with its place in the file.
#include "config/readers/read_common.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/readers/loader.h"
#include "config/text/error.h"

namespace satrelay::config::read_common_test {
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
            "pci send large frames; remove it");
  EXPECT_FALSE(
      parse_gateway(with_port(", driver: af_packet, large_frames: no"), "g.yaml").lan.large_frames);
  EXPECT_EQ(error_of(", large_frames: maybe"),
            "g.yaml:1:46: ports.lan.large_frames: \"maybe\" is not known here; allowed: yes, no");
}

std::string file(std::string_view terms) {
  return "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
         "gateway: {address: 192.0.2.1/30}\n"
         "links: {sat: {" +
         std::string(terms) +
         "}}\n"
         "peers: [{address: 192.0.2.2}]\n"
         "security: none\n";
}
constexpr std::string_view kKnown = "send_rate: 50Mbit, receive_rate: 10Mbit";

std::string workers_error(const std::string& text) {
  try {
    parse_gateway(text, "g.yaml");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Workers, WhatContradictsThemIsRefused) {
  struct Mistake {
    std::string_view added, message;
  };
  const std::vector<Mistake> mistakes{
      {"stp: {lanes: 1}\n",
       "g.yaml:6:7: stp.lanes: unknown key; allowed here: port, mtu, path_mtu, ping_after, "
       "suspect_after, give_up_after, feedback, fec, prompt_overhead"},
      {"worker: {count: 3}\n",
       "g.yaml:6:17: worker.count: \"3\" is not a power of two, which the division of connections "
       "needs; write 1, 2, 4 or another power of two"},
      {"worker: {count: 32}\n",
       "g.yaml:6:17: worker.count: \"32\" is out of range; write a whole number from 1 to 16"},
      {"worker: {count: 2, cpu: 1}\n",
       "g.yaml:6:25: worker.cpu: is one core for several workers; write cpus, one for each"},
      {"worker: {count: 2, cpus: [1]}\n",
       "g.yaml:6:26: worker.cpus: has 1 cores for 2 workers; write one for each, or leave cpus "
       "out"},
      {"worker: {count: 2, cpus: [1, 1]}\n",
       "g.yaml:6:30: worker.cpus[1]: \"1\" is listed twice; write a core of its own for each "
       "worker"},
      {"worker: {cpu: 1, cpus: [1]}\n",
       "g.yaml:6:24: worker.cpus: contradicts cpu; write one of the two"},
      {"worker: {count: 2}\nstp: {port: 65535}\n",
       "g.yaml:7:13: stp.port: 65535 leaves no room for the 2 lanes to peer 192.0.2.2, a port "
       "each; "
       "write at most 65534"},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string text = file(kKnown) + std::string(mistake.added);
    EXPECT_EQ(workers_error(text), mistake.message) << text;
  }
}

TEST(Workers, ACapacityIsFoundByOneOnly) {
  const std::string text = file("capacity: find");
  EXPECT_EQ(workers_error(text), "no error");
  EXPECT_EQ(workers_error(text + "worker: {count: 1}\n"), "no error");
  const std::string refused = workers_error(text + "worker: {count: 2}\n");
  EXPECT_NE(refused.find("capacity: find needs one worker at both ends"), std::string::npos)
      << refused;
  EXPECT_TRUE(refused.starts_with("g.yaml:3:")) << refused;
}

TEST(Workers, EachHasACore) {
  const Gateway config = parse_gateway(file(kKnown) + "worker: {count: 2, cpus: [3, 5]}\n", "g");
  EXPECT_EQ(config.worker.count, 2U);
  EXPECT_EQ(config.worker.cpu_of(0), 3U);
  EXPECT_EQ(config.worker.cpu_of(1), 5U);
  EXPECT_EQ(config.peers[0].workers, 0U) << "as many as this one";
}

}  // namespace
}  // namespace satrelay::config::read_common_test
