// The switches of a rule that let the far host's doing through.
#include <gtest/gtest.h>

#include <string>

#include "config/error.h"
#include "config/loader.h"

namespace satrelay::config {
namespace {

std::string with_rule(const std::string& rule) {
  return "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
         "gateway: {address: 192.0.2.1/30}\n"
         "peers: [{address: 192.0.2.2, security: none}]\n"
         "links: {sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}\n"
         "rules: [" +
         rule + "]\n";
}

std::string error_of(const std::string& rule) {
  try {
    parse_gateway(with_rule(rule), "g.yaml");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Modes, AllAreLocalByDefault) {
  EXPECT_FALSE(parse_gateway(with_rule("{action: accelerate}"), "g.yaml").rules.at(0).modes.any());
}

TEST(Modes, EachCanBeChosen) {
  const FlowModes modes =
      parse_gateway(with_rule("{action: accelerate, handshake: remote, ack: end-to-end, "
                              "close: confirmed, window: mirror}"),
                    "g.yaml")
          .rules.at(0)
          .modes;
  EXPECT_EQ(modes.handshake, HandshakeMode::kRemote);
  EXPECT_EQ(modes.ack, AckMode::kEndToEnd);
  EXPECT_EQ(modes.close, CloseMode::kConfirmed);
  EXPECT_EQ(modes.window, WindowMode::kMirror);
}

TEST(Modes, ThoseThatContradictAreRefused) {
  EXPECT_EQ(error_of("{action: accelerate, ack: end-to-end}"),
            "g.yaml:5:35: rules[0].ack: needs handshake: remote; otherwise the host learns the "
            "round trip of its own LAN and sends everything again before an acknowledgment can be "
            "there");
  EXPECT_EQ(error_of("{action: accelerate, handshake: local, ack: end-to-end}"),
            "g.yaml:5:53: rules[0].ack: needs handshake: remote; otherwise the host learns the "
            "round trip of its own LAN and sends everything again before an acknowledgment can be "
            "there");
  for (const std::string mode :
       {"handshake: local", "ack: local", "close: confirmed", "window: mirror"}) {
    EXPECT_NE(error_of("{action: bridge, " + mode + "}").find("contradicts action bridge"),
              std::string::npos)
        << mode;
  }
  EXPECT_EQ(error_of("{action: accelerate, window: rewritten}"),
            "g.yaml:5:38: rules[0].window: \"rewritten\" is not known here; allowed: rewrite, "
            "mirror");
}

}  // namespace
}  // namespace satrelay::config
