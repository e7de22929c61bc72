// We ask the peer whether it is still there.
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::own_questions_test {
namespace {

TEST(KeepAlive, AsksUntilAnythingIsHeard) {
  Script s;
  s.establish_as_server();
  s.send_keep_alive();
  EXPECT_EQ(s.out(), ". 0:0 ack 1");
  EXPECT_EQ(s.out(), "-");
  s.send_keep_alive();  // the peer is asked already
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.wait_for_timer(), Duration::seconds(1));
  EXPECT_EQ(s.out(), ". 0:0 ack 1");
  s.in(". 1:1 ack 1");
  EXPECT_TRUE(s.endpoint().next_timeout().is_never());
  EXPECT_EQ(s.out(), "-");
}

// A stranger knows the addresses and ports, but not the sequence numbers.
TEST(KeepAlive, NobodyAnswersForTheHostWithoutItsNumbers) {
  Script s;
  s.establish_as_server();
  EXPECT_TRUE(s.endpoint().ask_once());
  s.send_keep_alive();
  for (const int wait : {1, 2, 4, 8, 16, 32}) {
    s.out_all();
    s.in(". 3000000:3000000 ack 1");
    s.in(". 1:1 ack 2000000");
    EXPECT_TRUE(s.endpoint().questions().awaits_word());
    s.out_all();
    EXPECT_EQ(s.wait_for_timer(), Duration::seconds(wait));
  }
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kTimeout);
}

TEST(KeepAlive, GivesUpAfterAMinute) {
  Script s;
  s.establish_as_server();
  s.send_keep_alive();
  for (const int wait : {1, 2, 4, 8, 16, 32}) {
    EXPECT_EQ(s.out(), ". 0:0 ack 1");
    EXPECT_EQ(s.wait_for_timer(), Duration::seconds(wait));
  }
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kTimeout);
  EXPECT_EQ(s.out(), "R. 1:1 ack 1");
}

TEST(KeepAlive, AskedOnceNobodyEndsTheConnection) {
  Script s;
  s.establish_as_server();
  EXPECT_TRUE(s.endpoint().ask_once());
  EXPECT_EQ(s.out(), ". 0:0 ack 1");
  EXPECT_EQ(s.out(), "-");
  EXPECT_TRUE(s.endpoint().questions().awaits_word());
  EXPECT_TRUE(s.endpoint().next_timeout().is_never());
  s.in(". 1:1 ack 1");
  EXPECT_FALSE(s.endpoint().questions().awaits_word());
}

// The keep-alives that wait for the end of a half-closed connection count as a question, too.
TEST(KeepAlive, AskedOnceWhileOthersAreUnderWayItSendsNoMore) {
  Script s;
  s.establish_as_server();
  s.send_keep_alive();
  EXPECT_EQ(s.out(), ". 0:0 ack 1");
  EXPECT_TRUE(s.endpoint().ask_once());
  EXPECT_EQ(s.out(), "-");
  s.in(". 1:1 ack 1");
  EXPECT_FALSE(s.endpoint().questions().awaits_word());
  EXPECT_TRUE(s.endpoint().next_timeout().is_never());
  EXPECT_TRUE(s.endpoint().ask_once());
  EXPECT_EQ(s.out(), ". 0:0 ack 1");
  s.send_keep_alive();  // and the other way round
  EXPECT_EQ(s.wait_for_timer(), Duration::seconds(1));
}

}  // namespace
}  // namespace satrelay::tcp::test::own_questions_test
