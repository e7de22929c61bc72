// Explicit congestion notification (RFC 3168) as a peer sees it.
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::ecn_test {
namespace {

void establish(Script& s) {
  s.accept("SEW 0:0 win 65535 mss 1000 sackok");
  ASSERT_EQ(s.out(), "S.E 0:0 ack 1 mss 1460 sackok");
  s.in(". 1:1 ack 1");
  ASSERT_EQ(s.out(), "-");
}

TEST(EcnHandshake, IsAgreedToOnlyIfThePeerAsks) {
  for (const char* syn : {"S 0:0", "SE 0:0", "SW 0:0"}) {
    Script s;
    s.accept(std::string(syn) + " win 65535 mss 1000 sackok");
    EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460 sackok");
    s.in(". 1:1 ack 1");
    s.write(100);
    EXPECT_EQ(s.out(), "P. 1:101 ack 1");
  }
}

TEST(EcnHandshake, CanBeTurnedOff) {
  Config config = Script::plain_config();
  config.ecn = false;
  Script s({config});
  s.accept("SEW 0:0 win 65535 mss 1000 sackok");
  EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460 sackok");
}

TEST(EcnHandshake, AClientThatFallsBackIsFollowed) {  // section 6.1.1.1
  Script s;
  s.accept("SEW 0:0 win 65535 mss 1000 sackok");
  s.out();
  s.in("S 0:0 win 65535 mss 1000 sackok");
  EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460 sackok");
}

TEST(EcnHandshake, IsOfferedAsTheFarClientDidAndWithoutItTheSecondTime) {
  Script s;
  s.endpoint().connect({}, s.now(), EcnOffer::kYes);
  EXPECT_EQ(s.out(), "SEW 0:0");
  s.wait_for_timer();
  EXPECT_EQ(s.out(), "S 0:0");
}

TEST(EcnHandshake, AServerAgreesWithEceAlone) {
  for (const char* answer : {"S.E 0:0 ack 1", "S.EW 0:0 ack 1", "S. 0:0 ack 1"}) {
    Script s;
    s.endpoint().connect({}, s.now(), EcnOffer::kYes);
    s.out();
    s.in(answer);
    EXPECT_EQ(s.out(), ". 1:1 ack 1");
    s.write(100);
    const bool agreed = std::string(answer) == "S.E 0:0 ack 1";
    EXPECT_EQ(s.out(), agreed ? "P. 1:101 ack 1 ect0" : "P. 1:101 ack 1") << answer;
  }
}

TEST(EcnReceiver, AMarkIsEchoedUntilThePeerHasReduced) {
  Script s;
  establish(s);
  s.in(". 1:101 ack 1 ce");
  EXPECT_EQ(s.out(), ".E 1:1 ack 101");
  s.in(". 101:201 ack 1");
  EXPECT_EQ(s.out(), ".E 1:1 ack 201");
  s.in("W. 201:301 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 301");
  s.in("W. 301:401 ack 1 ce");  // marked again
  EXPECT_EQ(s.out(), ".E 1:1 ack 401");
  EXPECT_EQ(s.endpoint().counters().congestion_marks_in, 2u);
  s.consume(400);
}

TEST(EcnReceiver, AMarkWithoutAgreementMeansNothing) {
  Script s;
  s.establish_as_server();
  s.in(". 1:101 ack 1 ce");
  EXPECT_EQ(s.out(), ". 1:1 ack 101");
  s.consume(100);
}

TEST(EcnSender, ReducesOnceAWindowAndSaysSo) {
  Script s;
  establish(s);
  s.write(10'000);
  EXPECT_EQ(s.out_all().size(), 10u);
  s.in(".E 1:1 ack 1001");
  EXPECT_EQ(s.endpoint().sending().congestion_window(), 5000u);
  for (int i = 2; i < 10; ++i) {
    s.in(".E 1:1 ack " + std::to_string(1 + 1000 * i));  // in the same window
    EXPECT_EQ(s.endpoint().sending().congestion_window(), 5000u);
  }
  s.in(".E 1:1 ack 10001");
  EXPECT_EQ(s.endpoint().sending().congestion_window(), 5000u);
  s.write(4000);
  EXPECT_EQ(s.out_all(), (Lines{".W 10001:11001 ack 1 ect0", ". 11001:12001 ack 1 ect0",
                                ". 12001:13001 ack 1 ect0", "P. 13001:14001 ack 1 ect0"}));
  s.in(".E 1:1 ack 11001");  // a mark in the next window
  EXPECT_EQ(s.endpoint().sending().congestion_window(), 2000u);
  EXPECT_EQ(s.endpoint().counters().congestion_echoes, 2u);
  EXPECT_EQ(s.endpoint().counters().retransmitted_segments, 0u);
}

TEST(EcnSender, OnlyNewDataIsCapable) {
  Script s;
  establish(s);
  s.write(10'000);
  s.out_all();
  s.in(". 1:1 ack 1 sack 1001:4001");
  EXPECT_EQ(s.out(), ". 1:1001 ack 1");
  s.in(". 1:101 ack 1 sack 1001:4001");
  EXPECT_EQ(s.out(), ". 10001:10001 ack 101");
  s.consume(100);
}

TEST(EcnSender, EveryReductionIsTold) {  // section 6.1.2
  Script s;
  establish(s);
  s.write(12'000);
  s.out_all();
  s.in(". 1:1 ack 1 sack 1001:10001");
  EXPECT_EQ(s.out(), ". 1:1001 ack 1");
  EXPECT_EQ(s.out(), ".W 10001:11001 ack 1 ect0");
}

}  // namespace
}  // namespace satrelay::tcp::test::ecn_test
