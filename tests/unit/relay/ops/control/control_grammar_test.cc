#include "relay/ops/control/control_grammar.h"

#include <gtest/gtest.h>

#include <set>

namespace satrelay::ops::control_grammar_test {
namespace {

TEST(ControlGrammar, HelpHasALineForEachCommandAndNoMore) {
  const std::string help = '\n' + control_help();
  for (const ControlCommandSpec& command : kControlCommands) {
    EXPECT_NE(help.find('\n' + synopsis(command) + "  "), std::string::npos) << command.name;
  }
  EXPECT_EQ(std::ranges::count(help, '\n'), std::ssize(kControlCommands) + 2);
  EXPECT_NE(help.find("\nas panel:NAME COMMAND  "), std::string::npos);
}

TEST(ControlGrammar, ASynopsisIsWhatIsWritten) {
  std::set<std::string> all;
  for (const ControlCommandSpec& command : kControlCommands) all.insert(synopsis(command));
  EXPECT_EQ(all,
            (std::set<std::string>{"capacity LINK send|receive RATE|configured",
                                   "rate PEER RATE|configured", "set RULE SWITCH=VALUE...",
                                   "class NAME configured|KEY=VALUE...", "bypass on|off",
                                   "drain [TIMEOUT]", "reload", "reload result", "help", "quit"}));
}

TEST(ControlGrammar, SettingsSayTheirValues) {
  EXPECT_EQ(settings_help(kClassSettings),
            "weight=1 to 255, guaranteed=RATE|none, maximum=RATE|none");
  EXPECT_EQ(settings_help(kRuleSettings),
            "compress=off|auto|on (also for open connections), handshake=local|remote|auto, "
            "ack=local|end-to-end, close=local|confirmed, window=rewrite|mirror, "
            "delivery=ordinary|prompt, ttl=last|preserve, mptcp=fallback|bridge");
}

TEST(ControlGrammar, TheLongestNameHolds) {
  EXPECT_EQ(parse_control_line("reload").line->command->verb, ControlVerb::kReload);
  EXPECT_EQ(parse_control_line("reload result").line->command->verb, ControlVerb::kReloadResult);
  EXPECT_EQ(parse_control_line("reload results").error, "write: reload");
}

TEST(ControlGrammar, ValuesComeByTheirPlace) {
  const ControlLineParse parse = parse_control_line("class voice maximum=none weight=4");
  ASSERT_TRUE(parse.line);
  EXPECT_EQ(parse.line->arguments[0].text, "voice");
  EXPECT_FALSE(parse.line->arguments[1].is_instead);
  EXPECT_EQ((*parse.line)[ClassSetting::kWeight]->number, 4U);
  EXPECT_TRUE((*parse.line)[ClassSetting::kMaximum]->is_instead);
  EXPECT_FALSE((*parse.line)[ClassSetting::kGuaranteed]);
}

TEST(ControlGrammar, AProgramSaysForWhomItAsks) {
  const ControlLineParse parse = parse_control_line(" as panel:bob.b@ship  bypass on\r");
  ASSERT_TRUE(parse.line);
  EXPECT_EQ(parse.line->on_behalf_of, "panel:bob.b@ship");
  EXPECT_EQ(parse.line->command->verb, ControlVerb::kBypass);
  EXPECT_EQ(parse.line->arguments[0].text, "on");
  EXPECT_EQ(parse_control_line("bypass on").line->on_behalf_of, "");
  // The prefix stands beside the longest command.
  EXPECT_TRUE(parse_control_line("as panel:bob set web compress=off handshake=remote ack=local "
                                 "close=local window=mirror delivery=prompt")
                  .line);
  for (const char* wrong :
       {"as", "as panel:bob", "as bob bypass on", "as panel: bypass on", "as root bypass on",
        "as panel:b\"b bypass on", "as panel:b\x1b bypass on", "as panel:\xc3\xa9 bypass on",
        "as panel:123456789012345678901234567890123 bypass on"}) {
    EXPECT_EQ(parse_control_line(wrong).error, "write: as panel:NAME COMMAND") << wrong;
  }
  EXPECT_EQ(parse_control_line("as panel:a as panel:b bypass on").error,
            "unknown command; write help for a list");
  EXPECT_EQ(parse_control_line("as panel:a bypass maybe").error, "state: write on or off");
}

TEST(ControlGrammar, AMistypedCommandIsGuessed) {
  EXPECT_EQ(parse_control_line("capcity sat send 1Mbit").error,
            "unknown command; did you mean capacity? Or write help for a list");
  EXPECT_EQ(parse_control_line("reboot now").error, "unknown command; write help for a list");
}

}  // namespace
}  // namespace satrelay::ops::control_grammar_test
