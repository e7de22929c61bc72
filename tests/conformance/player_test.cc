// The player finds deviations from a script, so a script can fail.
#include "tests/conformance/player.h"

#include <gtest/gtest.h>

#include "tests/conformance/endpoint_host.h"
#include "tests/conformance/parser.h"

namespace satrelay::conformance::player_test {
namespace {

// The message without its place; "passed" if nothing is wrong.
std::string play(const std::string& lines) {
  const Script script = parse_script("a/b", "b.tcp", "title: t\nrfc: r\n" + lines);
  EndpointHost host(script.settings);
  const Outcome outcome = Player(script, host, For::kEndpoint).play();
  return outcome.passed ? "passed" : outcome.message;
}

TEST(ScriptPlayer, PassesWhatIsRight) {
  EXPECT_EQ(play("begin: server\n+5 P. 1:11 ack 1 -->\n<-- . 1:1 ack 11\nread 10"), "passed");
  EXPECT_EQ(play("begin: client\n+5 write 10\n<-- P. 1:11 ack 1\n+210 <-- P. 1:11 ack 1"),
            "passed");
}

TEST(ScriptPlayer, FindsWhatIsWrong) {
  const std::string in = "begin: server\n+5 P. 1:11 ack 1 -->\n";
  EXPECT_EQ(play(in),
            "b.tcp:4: a segment that the script does not expect here: . 1:1 ack 11 win "
            "64230, at 5 ms");
  EXPECT_EQ(play(in + "<-- . 1:1 ack 12"),
            "b.tcp:5: another acknowledgment number; seen: . 1:1 ack 11 win 64230");
  EXPECT_EQ(play(in + "<-- . 2:2 ack 11"),
            "b.tcp:5: another sequence number; seen: . 1:1 ack 11 win 64230");
  EXPECT_EQ(play(in + "<-- F. 1:1 ack 11"), "b.tcp:5: other flags; seen: . 1:1 ack 11 win 64230");
  EXPECT_EQ(play(in + "<-- . 1:1 ack 11 win 5"),
            "b.tcp:5: another window; seen: . 1:1 ack 11 win 64230");
  EXPECT_EQ(play(in + "<-- . 1:1 ack 11 <nop>"),
            "b.tcp:5: other options; seen: . 1:1 ack 11 win 64230");
  EXPECT_EQ(play(in + "+3 <-- . 1:1 ack 11"),
            "b.tcp:5: sent at 5 ms, expected at 8..8 ms: . 1:1 ack 11 win 64230");
  EXPECT_EQ(play(in + "<-- . 1:1 ack 11\n<-- . 1:1 ack 11"),
            "b.tcp:6: nothing was sent until 6 ms");
  EXPECT_EQ(play("begin: server\n+5 state CLOSED"), "b.tcp:4: the state is ESTABLISHED");
  EXPECT_EQ(play("begin: server\n+5 read 1"), "b.tcp:4: only 0 bytes were there");
}

}  // namespace
}  // namespace satrelay::conformance::player_test
