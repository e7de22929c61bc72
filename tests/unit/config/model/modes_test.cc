// The modes of a rule, each of which leaves a part of a connection to the far host.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/config/one_key.h"

namespace satrelay::config::modes_test {
namespace {

std::string with_rule(const std::string& rule) { return with_line("rules: [" + rule + "]"); }

std::string error_of(const std::string& rule) { return error_with_line("rules: [" + rule + "]"); }

TEST(Modes, AllAreLocalByDefault) {
  EXPECT_FALSE(parse_gateway(with_rule("{action: accelerate}"), "g.yaml").rules.at(0).modes.any());
}

TEST(Modes, EachCanBeChosen) {
  const FlowModes modes =
      parse_gateway(with_rule("{action: accelerate, handshake: remote, ack: end-to-end, "
                              "close: confirmed, window: mirror, delivery: prompt}"),
                    "g.yaml")
          .rules.at(0)
          .modes;
  EXPECT_EQ(modes.handshake, HandshakeMode::kRemote);
  EXPECT_EQ(modes.ack, AckMode::kEndToEnd);
  EXPECT_EQ(modes.close, CloseMode::kConfirmed);
  EXPECT_EQ(modes.window, WindowMode::kMirror);
  EXPECT_EQ(modes.delivery, DeliveryMode::kPrompt);
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
}  // namespace satrelay::config::modes_test
