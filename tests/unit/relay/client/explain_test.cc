#include "relay/client/explain.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace satrelay::ctl::explain_test {
namespace {

PacketQuestion question(std::string source, std::string destination) {
  PacketQuestion question;
  question.source = std::move(source);
  question.destination = std::move(destination);
  return question;
}

std::string refusal(const PacketQuestion& question) {
  try {
    explain_parameters(question);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(ExplainParameters, AreThoseOfTheStatsSocket) {
  EXPECT_EQ(explain_parameters(question("10.0.0.5", "198.51.100.7:443")),
            "10.0.0.5,198.51.100.7,443,6,0,0,outbound");
  EXPECT_EQ(explain_parameters(question("2001:db8::5", "[2001:db8::7]:443")),
            "2001:db8::5,2001:db8::7,443,6,0,0,outbound");
  EXPECT_EQ(explain_parameters(question("2001:db8::5", "2001:db8::7")),
            "2001:db8::5,2001:db8::7,0,6,0,0,outbound");
  EXPECT_EQ(explain_parameters(question("2001:db8::5", "[2001:db8::7]")),
            "2001:db8::5,2001:db8::7,0,6,0,0,outbound");
  PacketQuestion ping = question("2001:db8::5", "2001:db8::7");
  ping.protocol = "icmp";
  ping.vlan = "100";
  ping.dscp = "EF";
  ping.direction = "inbound";
  EXPECT_EQ(explain_parameters(ping), "2001:db8::5,2001:db8::7,0,58,100,46,inbound");
  ping.source = "10.0.0.5";
  ping.destination = "10.0.0.6";
  EXPECT_EQ(explain_parameters(ping), "10.0.0.5,10.0.0.6,0,1,100,46,inbound");
}

TEST(ExplainParameters, MistakesAreNamed) {
  EXPECT_EQ(refusal(question("host", "10.0.0.6")),
            "source \"host\": write an address, like 198.51.100.7 or 2001:db8::7");
  EXPECT_EQ(refusal(question("10.0.0.5", "10.0.0.6:http")),
            "destination \"10.0.0.6:http\": write a port from 1 to 65535 behind it");
  EXPECT_EQ(refusal(question("10.0.0.5", "2001:db8::7")),
            "destination \"2001:db8::7\": write one of the family of the source");
  for (const char* wrong : {"", "[2001:db8::7", "[2001:db8::7]443", "[]:1", "10.0.0.6:0",
                            "10.0.0.6:", "10.0.0.6:65536", "]:1", "["}) {
    EXPECT_NE(refusal(question("10.0.0.5", wrong)), "") << wrong;
  }
  PacketQuestion wrong = question("10.0.0.5", "10.0.0.6");
  wrong.dscp = "AF44";
  EXPECT_NE(refusal(wrong), "");
  wrong = question("10.0.0.5", "10.0.0.6");
  wrong.vlan = "4095";
  EXPECT_NE(refusal(wrong), "");
  wrong = question("10.0.0.5", "10.0.0.6");
  wrong.protocol = "sctp";
  EXPECT_NE(refusal(wrong), "");
  wrong = question("10.0.0.5", "10.0.0.6");
  wrong.direction = "up";
  EXPECT_EQ(refusal(wrong), "direction \"up\": write one of: outbound, inbound");
}

}  // namespace
}  // namespace satrelay::ctl::explain_test
