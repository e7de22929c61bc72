// The peer asks whether we are still there.
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::peer_questions_test {
namespace {

TEST(KeepAlive, OnlyTheNumberBeforeTheNextIsOne) {
  Script s;
  s.establish_as_server();
  s.in(". 1:101 ack 1");
  s.consume(100);
  s.in(". 100:100 ack 1");
  EXPECT_EQ(s.endpoint().questions().keep_alives(), 1u);
  s.in(". 100:101 ack 1");  // with a garbage byte
  EXPECT_EQ(s.endpoint().questions().keep_alives(), 2u);
  s.in(". 99:99 ack 1");
  s.in(". 99:101 ack 1");
  s.in(". 101:101 ack 1");
  EXPECT_EQ(s.endpoint().questions().keep_alives(), 2u);
}

// A host that waits for room does not ask whether the other host is there.
TEST(KeepAlive, AProbeOfAClosedWindowIsNone) {
  Script s;
  s.establish_as_server();
  s.endpoint().set_receive_limit(100);
  const std::uint64_t window = s.endpoint().receiving().window();
  const std::string next = std::to_string(window + 1);
  for (std::uint64_t at = 1; at <= window; at += 1'000) {
    const std::uint64_t end = std::min(at + 1'000, window + 1);
    s.in(". " + std::to_string(at) + ":" + std::to_string(end) + " ack 1");
    s.out();
  }
  ASSERT_EQ(s.endpoint().receiving().window(), 0u);
  s.in(". " + std::to_string(window) + ":" + std::to_string(window) + " ack 1");
  EXPECT_NE(s.out(), "-") << "it is answered";
  EXPECT_EQ(s.endpoint().questions().keep_alives(), 0u);
  EXPECT_EQ(s.endpoint().counters().keep_alives_in, 0u);
  s.endpoint().set_receive_limit(0);  // the far host offers no window (window: mirror)
  s.in(". " + std::to_string(window) + ":" + std::to_string(window) + " ack 1");
  EXPECT_EQ(s.endpoint().questions().keep_alives(), 1u) << "that host is asked";
}

TEST(KeepAlive, ItsAnswerIsLeftToTheOwner) {
  Script s;
  s.establish_as_server();
  s.endpoint().questions().leave(true);
  s.in(". 0:0 ack 1");
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.endpoint().questions().take(), Question::kEmpty);
  EXPECT_EQ(s.endpoint().questions().take(), Question::kNone);
  s.in(". 0:1 ack 1");
  EXPECT_EQ(s.endpoint().questions().take(), Question::kWithByte);
  s.endpoint().answer_question();
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  s.in(". 0:0 ack 999999");
  EXPECT_EQ(s.endpoint().questions().take(), Question::kNone) << "whoever it is, it guesses";
  s.out();
  s.in("P. 1:101 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 101") << "data is acknowledged";
  s.endpoint().questions().leave(false);
  s.in(". 100:100 ack 1");
  EXPECT_NE(s.out(), "-");
}

}  // namespace
}  // namespace satrelay::tcp::test::peer_questions_test
