// Each mistake in a script has a message of its own, with file and line.
#include "tests/conformance/parser.h"

#include <gtest/gtest.h>

namespace satrelay::conformance::parser_test {
namespace {

std::string error_of(const std::string& lines) {
  try {
    parse_script("a/b", "b.tcp", "title: t\nrfc: r\n" + lines);
  } catch (const ScriptError& error) {
    return error.what();
  }
  return "none";
}

Script parsed(const std::string& lines) {
  return parse_script("a/b", "b.tcp", "title: t\nrfc: r\n" + lines);
}

TEST(ScriptParser, TellsMistakesWithTheirPlace) {
  EXPECT_EQ(error_of(""), "b.tcp:2: the script has no steps");
  EXPECT_EQ(error_of("0 S 0:0 -->\n+5 jump\n"), "b.tcp:4: 'jump' is no action");
  EXPECT_EQ(error_of("0 SQ 0:0 -->"), "b.tcp:3: no flags: 'SQ'");
  EXPECT_EQ(error_of("0 S 0 -->"), "b.tcp:3: '0' should be BEGIN:END");
  EXPECT_EQ(error_of("0 . 5:4 ack 1 -->"), "b.tcp:3: '5:4' ends before it begins");
  EXPECT_EQ(error_of("0 S 0:0 ack 1 -->"), "b.tcp:3: 'ack' without the flag '.'");
  EXPECT_EQ(error_of("0 . 1:1 ack 1 win 65536 -->"), "b.tcp:3: 65536 is out of range");
  EXPECT_EQ(error_of("0 . 1:1 ack 1 window 5 -->"), "b.tcp:3: 'window' means nothing in a segment");
  EXPECT_EQ(error_of("0 S 0:0 <mss> -->"), "b.tcp:3: no option: 'mss'");
  EXPECT_EQ(error_of("0 <-- S 0:0 <mss 1"), "b.tcp:3: '<' without '>'");
  EXPECT_EQ(error_of("0 <-- S 0:0 <mss 1 2>"), "b.tcp:3: no option: 'mss 1 2'");
  EXPECT_EQ(error_of("0 state OPEN"), "b.tcp:3: 'OPEN' is not known here");
  EXPECT_EQ(error_of("0 write"), "b.tcp:3: 'write' takes one word");
  EXPECT_EQ(error_of("0 listen 5"), "b.tcp:3: 'listen' takes no more words");
  EXPECT_EQ(error_of("0 connect <> ecn"), "b.tcp:3: should be: connect [ecn] [<OPTIONS>]");
  EXPECT_EQ(error_of("+20..10 nothing"), "b.tcp:3: a time that ends before it begins");
  EXPECT_EQ(error_of("set: speed 5"), "b.tcp:3: there is no setting 'speed'");
  EXPECT_EQ(error_of("0 listen\nset: mss 5"), "b.tcp:4: settings come before the first step");
  EXPECT_EQ(error_of("begin: host"), "b.tcp:3: should be 'begin: server' or 'begin: client'");
  EXPECT_EQ(error_of("0 S 0:0 <hex 1 100> -->"), "b.tcp:3: '100' is no byte in hexadecimal");
}

TEST(ScriptParser, AsksForReasons) {
  EXPECT_EQ(error_of("pending:"), "b.tcp:3: say why the script is pending");
  EXPECT_EQ(error_of("kernel skip:"), "b.tcp:3: say why the kernel is left out");
  EXPECT_EQ(error_of("kernel differs:"), "b.tcp:3: say in what the kernel differs, and why");
  EXPECT_EQ(error_of("ours +5 nothing"),
            "b.tcp:3: a line for one side only needs 'kernel differs: REASON' before it");
  EXPECT_EQ(error_of("kernel differs: it is slow\n+6 nothing\nours +5 nothing"),
            "b.tcp:4: 'kernel differs:' is followed by no line for one side");
}

TEST(ScriptParser, ReadsWhatASegmentSays) {
  const Script script = parsed("+10..20 <-- P. 1:101 ack 2 win * urg 7 ce <TS *:5, nop> x3");
  ASSERT_EQ(script.steps.size(), 1U);
  const Step& step = script.steps[0];
  EXPECT_TRUE(step.when.relative);
  EXPECT_EQ(step.when.earliest, Duration::milliseconds(10));
  EXPECT_EQ(step.when.latest, Duration::milliseconds(20));
  const SegmentText& text = std::get<Expect>(step.what).segment;
  EXPECT_EQ(text.flags, Flags::kAck | Flags::kPsh);
  EXPECT_EQ(text.begin, 1);
  EXPECT_EQ(text.size, 100);
  EXPECT_EQ(text.ack, 2);
  EXPECT_FALSE(text.window);
  EXPECT_EQ(text.urgent, 7);
  EXPECT_EQ(text.ecn, Ecn::kCe);
  EXPECT_EQ(text.repetitions, 3);
  ASSERT_EQ(text.options.size(), 2U);
  EXPECT_FALSE(text.options[0].value);
  EXPECT_EQ(text.options[0].echo, 5U);
}

TEST(ScriptParser, BeginningIsAWholeHandshake) {
  const Script script = parsed("begin: client win 100 <mss 500>\n+5 write 1");
  ASSERT_EQ(script.steps.size(), 5U);
  EXPECT_EQ(std::get<Act>(script.steps[0].what).verb, Verb::kConnect);
  EXPECT_EQ(std::get<Send>(script.steps[2].what).segment.window, 100);
  EXPECT_EQ(script.steps[3].line, 3);
}

TEST(ScriptParser, LinesForOneSide) {
  const Script script = parsed(
      "begin: server\nkernel differs: it waits\nours +5 nothing\nkernel +6 nothing\n+7 nothing");
  ASSERT_EQ(script.steps.size(), 7U);
  EXPECT_EQ(script.differences, std::vector<std::string>{"it waits"});
  EXPECT_EQ(script.steps[4].for_whom, For::kEndpoint);
  EXPECT_EQ(script.steps[5].for_whom, For::kKernel);
  EXPECT_EQ(script.steps[6].for_whom, For::kBoth);
}

}  // namespace
}  // namespace satrelay::conformance::parser_test
