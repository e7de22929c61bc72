#include "relay/satrelayd/reporting/reload_event.h"

#include <gtest/gtest.h>

namespace satrelay::satrelayd::reload_event_test {
namespace {

using Changed = std::vector<config::ChangedKey>;

TEST(ReloadEvent, HasOldAndNewValueOfTheOneThatChanged) {
  const ReloadTold told = told_of({{"links.sat.send_rate", "50Mbit", "20Mbit"}});
  EXPECT_EQ(told.detail, "links.sat.send_rate");
  EXPECT_EQ(told.before, "50Mbit");
  EXPECT_EQ(told.after, "20Mbit");
  EXPECT_TRUE(told.lines.empty());
}

TEST(ReloadEvent, OfSeveralEachIsNamed) {
  const ReloadTold told = told_of({{"tcp.ecn", "on", "off"}, {"log", "info", "debug"}});
  EXPECT_EQ(told.detail, "tcp.ecn, log");
  EXPECT_EQ(told.before, "tcp.ecn=on, log=info");
  EXPECT_EQ(told.after, "tcp.ecn=off, log=debug");
  EXPECT_TRUE(told.lines.empty());
}

TEST(ReloadEvent, SaysThatNothingHasChanged) {
  const ReloadTold told = told_of({});
  EXPECT_EQ(told.detail, "nothing has changed");
  EXPECT_EQ(told.before + told.after, "");
}

TEST(ReloadEvent, WhatFindsNoRoomIsCountedAndGoesIntoTheLog) {
  Changed many;
  for (int i = 0; i < 40; ++i) {
    many.push_back({"rules.of_some_name" + std::to_string(i) + ".compress", "auto", "off"});
  }
  const ReloadTold told = told_of(many);
  for (const std::string* text : {&told.detail, &told.before, &told.after}) {
    EXPECT_LE(text->size(), ops::kMostEventText);
  }
  EXPECT_EQ(told.detail.substr(told.detail.find(" and ")), " and 37 more") << told.detail;
  EXPECT_EQ(told.before.substr(told.before.find(" and ")), " and 37 more") << told.before;
  ASSERT_EQ(told.lines.size(), many.size());
  EXPECT_EQ(told.lines[39], "reload: rules.of_some_name39.compress: from auto to off");
}

TEST(ReloadEvent, TheLogHasAHundredLinesAtMost) {
  std::vector<config::ChangedKey> changes(10'000, {"rules[x].class", "a", "b"});
  const ReloadTold told = told_of(changes);
  ASSERT_EQ(told.lines.size(), 101U);
  EXPECT_EQ(told.lines.back(), "reload: and 9900 more");
}

TEST(ReloadEvent, AValueIsCutIfItIsLong) {
  const ReloadTold told = told_of({{"rules", std::string(5000, 'a'), "0 rules"}});
  EXPECT_EQ(told.before.size(), ops::kMostEventText);
  EXPECT_TRUE(told.before.ends_with("a..."));
  EXPECT_EQ(told.after, "0 rules");
  ASSERT_EQ(told.lines.size(), 1U);
  EXPECT_EQ(told.lines[0].size(), 1000U);
}

TEST(ReloadEvent, AdvisesTheCureOfTheCause) {
  EXPECT_EQ(advice_for(ReloadRefusal::kMistake), "") << "the advice of the event";
  EXPECT_NE(advice_for(ReloadRefusal::kFileRights).find("chmod 0640"), std::string_view::npos);
  EXPECT_TRUE(advice_for(ReloadRefusal::kNoFile).starts_with("put the file back"));
  EXPECT_TRUE(advice_for(ReloadRefusal::kNeedsRestart).starts_with("restart the gateway"));
  EXPECT_TRUE(advice_for(ReloadRefusal::kNoMemory).starts_with("free memory"));
  EXPECT_NE(advice_for(ReloadRefusal::kWorkerStuck).find("worker"), std::string_view::npos);
}

}  // namespace
}  // namespace satrelay::satrelayd::reload_event_test
