#include "relay/satrelayctl/views/render_events.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <ctime>
#include <sstream>

#include "relay/client/reply.h"

namespace satrelay::ctl::render_events_test {
namespace {

class RenderEvents : public testing::Test {
 protected:
  RenderEvents() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  ~RenderEvents() override {
    ::unsetenv("TZ");
    ::tzset();
  }
};

TEST_F(RenderEvents, AnEventIsALineAndMoreWhereItMust) {
  const Json silent = Json::parse(R"({"number": 7, "time_ms": 1795617005000,
    "severity": "warning", "name": "peer_silent", "subject": "peer hub",
    "text": "silent, new connections are bridged and open ones wait", "detail": "",
    "advice": "check the link and the far gateway"})");
  const Json bypass = Json::parse(R"({"number": 8, "time_ms": 1795617006000, "severity": "info",
    "name": "bypass_set", "subject": "gateway", "text": "bypass was set", "detail": "figures",
    "advice": "", "user": "alice", "old": "off", "new": "on"})");
  EXPECT_EQ(event_titles() + render_event(silent) + render_event(bypass),
            "number  time            severity  event\n"
            "     7  11-25 14:30:05  warning   peer hub: silent, new connections are bridged\n"
            "                                  and open ones wait; check the link and the far\n"
            "                                  gateway [peer_silent]\n"
            "     8  11-25 14:30:06  info      gateway: bypass was set (figures, from off to\n"
            "                                  on, by alice) [bypass_set]\n");
  EXPECT_EQ(render_notice("a gap"), "-- a gap --\n");
}

TEST_F(RenderEvents, NoLineIsLongerThanATerminal) {
  Json event = Json::parse(R"({"number": 18446744073709551615, "time_ms": 1795617005000,
    "severity": "warning", "name": "rule_set", "subject": "rule x", "text": "set", "advice": "a"})");
  event["detail"] = std::string(127, 'd');
  event["old"] = "two words " + std::string(120, 'o');
  event["user"] = "panel:" + std::string(58, 'u');
  std::istringstream lines(render_event(event));
  std::string all;
  std::size_t first = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), first++ == 0 ? 90U : 80U) << line;
    EXPECT_NE(line.back(), ' ');
    all += line.substr(line.find_first_not_of(' '));
  }
  EXPECT_NE(all.find(std::string(127, 'd')), std::string::npos) << "nothing is lost";
}

TEST_F(RenderEvents, WhatMovesTheCursorOrIsMissingDoesNoHarm) {
  const Json odd = Json::parse(R"({"number": "7", "subject": "peer \u001b[2J\n\"x\"", "old": 5})");
  EXPECT_EQ(render_event(odd), "     -  -               -         peer ?[2J?\"x\": - [-]\n");
  EXPECT_EQ(render_event(Json()), "     -  -               -         -: - [-]\n");
}

}  // namespace
}  // namespace satrelay::ctl::render_events_test
