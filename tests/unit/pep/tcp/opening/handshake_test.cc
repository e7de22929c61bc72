// Opening a connection: both roles, options, repeated segments and refusal.
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::handshake_test {
namespace {

TEST(Handshake, ServerAnswersEveryOptionOffered) {
  Script s({[] {
    Config config = Script::plain_config();
    config.window_scale = 10;
    config.timestamp_offset = 7000;
    return config;
  }()});
  s.accept("S 0:0 win 64240 mss 1400 sackok ts 123 0 ws 7");
  EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460 sackok ts 8000 123 ws 10");
  EXPECT_EQ(s.window(), 64'000u);
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.endpoint().state(), State::kSynReceived);
  EXPECT_FALSE(s.endpoint().is_synchronised());
  s.in(". 1:1 ack 1 win 100 ts 124 8000");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
  EXPECT_EQ(s.endpoint().sending().peer_window(), 12'800u);
  EXPECT_EQ(s.endpoint().sending().segment_size(), 1388);  // 1400 less the timestamps
  EXPECT_EQ(s.out(), "-");
}

TEST(Handshake, ServerUsesNoOptionThatWasNotOffered) {
  Script s({[] {
    Config config = Script::plain_config();
    config.window_scale = 10;
    return config;
  }()});
  s.accept("S 0:0 win 5000");
  EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460");
  s.in(". 1:1 ack 1 win 5000");
  EXPECT_EQ(s.endpoint().sending().peer_window(), 5000u);
  EXPECT_EQ(s.endpoint().sending().segment_size(), 536);  // RFC 9293 section 3.7.1
  s.write(1000);
  EXPECT_EQ(s.out_all(), (Lines{". 1:537 ack 1", "P. 537:1001 ack 1"}));
}

TEST(Handshake, ClientOffersOnlyWhatTheFarClientOffered) {
  Script all;
  all.connect("mss 1200 sackok ts 99 0 ws 3");
  EXPECT_EQ(all.out(), "S 0:0 mss 1200 sackok ts 1000 0 ws 0");
  Script nothing;
  nothing.connect("");
  EXPECT_EQ(nothing.out(), "S 0:0");
  Script larger;
  larger.connect("mss 9000 sackok");
  EXPECT_EQ(larger.out(), "S 0:0 mss 1460 sackok");
}

TEST(Handshake, ClientCompletesAndEchoes) {
  Script s;
  s.connect("mss 1460 sackok ts 1 0 ws 3");
  s.out();
  s.wait(ms(5));
  s.in("S. 0:0 ack 1 win 1000 mss 1460 sackok ts 555 1000 ws 4");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
  EXPECT_EQ(s.endpoint().sending().peer_window(), 1000u);  // unscaled in a SYN
  EXPECT_EQ(s.endpoint().sending().smoothed_rtt(), ms(5));
  EXPECT_EQ(s.out(), ". 1:1 ack 1 ts 1005 555");
  s.in(". 1:1 ack 1 win 1000 ts 556 1005");
  EXPECT_EQ(s.endpoint().sending().peer_window(), 16'000u);
}

TEST(Handshake, OptionsTheServerDeclinesAreNotUsed) {
  Script s;
  s.connect("mss 1460 sackok ts 1 0 ws 3");
  s.out();
  s.in("S. 0:0 ack 1 win 1000 mss 1000");
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  s.in(". 1:101 ack 1 win 1000");
  EXPECT_EQ(s.endpoint().sending().peer_window(), 1000u);
  s.in(". 201:301 ack 1 win 1000");
  EXPECT_EQ(s.out(), ". 1:1 ack 101");  // one ACK for both, without SACK blocks
}

TEST(Handshake, WindowScaleIsClampedTo14) {
  Script s;
  s.accept("S 0:0 win 65535 mss 1460 ws 200");
  s.out();
  s.in(". 1:1 ack 1 win 2");
  EXPECT_EQ(s.endpoint().sending().peer_window(), 2u << 14);
}

TEST(Handshake, AbsurdMssLeavesRoomForOptions) {
  Script s;
  s.accept("S 0:0 win 65535 mss 1 sackok ts 1 0");
  s.out();
  s.in(". 1:1 ack 1 win 65535 ts 1 1000");
  s.write(40);
  EXPECT_EQ(s.out(), ". 1:37 ack 1 ts 1000 1");
}

TEST(Handshake, WritesBeforeTheHandshakeAreSentAfterIt) {
  Script s;
  s.write(100);
  s.connect("mss 1460 sackok");
  s.write(50);
  EXPECT_EQ(s.out(), "S 0:0 mss 1460 sackok");
  EXPECT_EQ(s.out(), "-");
  s.in("S. 0:0 ack 1 win 65535 mss 1460 sackok");
  EXPECT_EQ(s.out(), "P. 1:151 ack 1");
  EXPECT_EQ(s.out(), "-");
}

TEST(Handshake, CloseBeforeTheHandshakeTakesEffectWithIt) {
  Script s;
  s.connect("mss 1460 sackok");
  s.write(10);
  s.endpoint().close();
  EXPECT_EQ(s.endpoint().state(), State::kSynSent);
  s.out();
  s.in("S. 0:0 ack 1 win 65535 mss 1460 sackok");
  EXPECT_EQ(s.endpoint().state(), State::kFinWait1);
  EXPECT_EQ(s.out(), "FP. 1:11 ack 1");
}

TEST(Handshake, LastAckMayCarryDataAndFin) {
  Script s;
  s.accept("S 0:0 win 65535 mss 1460");
  s.out();
  s.in("FP. 1:101 ack 1");
  EXPECT_EQ(s.endpoint().state(), State::kCloseWait);
  EXPECT_TRUE(s.endpoint().receiving().has_finished());
  EXPECT_EQ(s.out(), ". 1:1 ack 102");
  s.consume(100);
}

// If another machine answers the peer too, the peer repeats itself (RFC 5961 section 4).
TEST(Handshake, WhatNothingOfOursHasDrawnIsAStrayAnswer) {
  Script s;
  s.accept("S 0:0 win 1000 mss 1460");
  s.out();
  s.in(". 1:1 ack 1 win 1000");
  EXPECT_EQ(s.endpoint().questions().stray_answers(), 0U) << "completes the handshake";
  s.in(". 1:1 ack 1 win 1000");
  EXPECT_EQ(s.endpoint().questions().stray_answers(), 1U);
  s.in(". 1:1 ack 1 win 2000");
  EXPECT_EQ(s.endpoint().questions().stray_answers(), 1U) << "a new window";
  s.in(". 0:0 ack 1 win 2000");
  EXPECT_EQ(s.endpoint().questions().stray_answers(), 1U) << "a keep-alive";
  s.in("P. 1:11 ack 1 win 2000");
  EXPECT_EQ(s.endpoint().questions().stray_answers(), 1U);
  s.consume(10);
  s.write(10);
  s.out_all();
  s.in(". 11:11 ack 1 win 2000");
  EXPECT_EQ(s.endpoint().questions().stray_answers(), 1U) << "asks for what is under way";
}

TEST(Handshake, ASynThatWaitsTakesAResetOfAnotherConnectionForAStrayAnswer) {
  Script s;
  wire::TcpHeader syn;
  syn.sequence = kPeerIsn;
  syn.flags = wire::TcpFlags::kSyn;
  s.endpoint().accept(syn, Instant(), Answer::kLater);
  wire::TcpHeader reset;
  reset.sequence = kPeerIsn + 5'000'000;
  reset.flags = wire::TcpFlags::kRst;
  s.endpoint().handle_segment(reset, {}, Instant());
  EXPECT_EQ(s.endpoint().questions().stray_answers(), 1U);
  EXPECT_EQ(s.endpoint().state(), State::kSynReceived);
}

TEST(Handshake, DataOnTheSynIsNotAcknowledged) {
  Script s;
  s.accept("S 0:20 win 65535 mss 1460");
  EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460");
  s.in(". 1:21 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 21");
  Script c;
  c.connect("mss 1460");
  c.out();
  c.in("S. 0:20 ack 1 win 65535 mss 1460");
  EXPECT_EQ(c.out(), ". 1:1 ack 1");
  EXPECT_EQ(c.endpoint().received().readable(), 0u);
}

TEST(Handshake, SynIsRepeatedWithBackoffAndThenGivenUp) {
  Script s;
  s.connect("mss 1460");
  EXPECT_EQ(s.out(), "S 0:0 mss 1460");
  for (const int seconds : {1, 2, 4, 8, 16, 32, 60}) {
    EXPECT_EQ(s.wait_for_timer(), Duration::seconds(seconds));
    EXPECT_EQ(s.out(), "S 0:0 mss 1460");
    EXPECT_EQ(s.out(), "-");
  }
  EXPECT_EQ(s.wait_for_timer(), Duration::seconds(60));
  EXPECT_EQ(s.endpoint().state(), State::kClosed);
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kTimeout);
  EXPECT_EQ(s.out(), "-");
  EXPECT_TRUE(s.endpoint().next_timeout().is_never());
}

TEST(Handshake, SynAckIsRepeatedWithBackoffAndThenGivenUp) {
  Script s;
  s.accept("S 0:0 win 65535 mss 1460");
  s.out();
  for (int i = 0; i < 6; ++i) {
    s.wait_for_timer();
    EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460");
  }
  s.wait_for_timer();
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kTimeout);
}

TEST(Handshake, LateAnswerToARepeatedSynSetsNoRttAndASlowTimer) {
  Script s;
  s.connect("mss 1460");
  s.out();
  s.wait_for_timer();
  s.out();
  s.in("S. 0:0 ack 1 win 65535 mss 1460");
  EXPECT_EQ(s.endpoint().sending().smoothed_rtt(), Duration::zero());
  s.out();
  s.write(1);
  s.out();
  EXPECT_EQ(s.wait_for_timer(), Duration::seconds(3));  // RFC 6298 section 5.7
}

TEST(Handshake, DuplicateSynIsAnsweredAgain) {
  Script s;
  s.accept("S 0:0 win 65535 mss 1460 ts 100 0");
  EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460 ts 1000 100");
  s.in("S 0:0 win 65535 mss 1460 ts 300 0");
  EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460 ts 1000 300");
  EXPECT_EQ(s.out(), "-");
  s.in(". 1:1 ack 1 ts 301 1000");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
}

// Some hosts do so when they have had no answer for a while.
TEST(Handshake, ARepeatedSynMayAskForLess) {
  Script s;
  s.accept("S 0:0 win 65535 mss 1460 sackok ts 100 0 ws 7");
  EXPECT_NE(s.out(), "-");
  s.in("S 0:0 win 65535 mss 1460");
  EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460");
  s.in(". 1:1 ack 1 win 500");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
  EXPECT_EQ(s.endpoint().sending().peer_window(), 500u);
  s.in(". 1:101 ack 1 win 500");
  EXPECT_EQ(s.endpoint().received().in_order_end(), 100u);
}

TEST(Handshake, AnotherSynInSynReceivedIsChallenged) {
  Script s;
  s.accept("S 0:0 win 65535 mss 1460");
  s.out();
  s.in("S 7777:7777 win 65535 mss 1460");
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  EXPECT_EQ(s.endpoint().state(), State::kSynReceived);
  s.in("R 1:1");  // the answer of a client that knows nothing of this connection
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kResetByPeer);
}

TEST(Handshake, RepeatedSynAckIsAnsweredWithAnAck) {
  Script s;
  s.establish_as_client();
  s.in("S. 0:0 ack 1 win 65535 mss 1460 sackok");
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
}

TEST(Handshake, RefusedByAValidResetOnly) {
  Script s;
  s.connect("mss 1460");
  s.out();
  s.in("R 0:0");
  s.in("R. 0:0 ack 5");
  EXPECT_EQ(s.endpoint().state(), State::kSynSent);
  EXPECT_EQ(s.out(), "-");
  s.in("R. 0:0 ack 1");
  EXPECT_EQ(s.endpoint().state(), State::kClosed);
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kRefused);
  EXPECT_EQ(s.out(), "-");
}

TEST(Handshake, WrongAckInSynSentIsReset) {
  Script s;
  s.connect("mss 1460");
  s.out();
  s.in("S. 0:0 ack 77 win 65535 mss 1460");
  EXPECT_EQ(s.out(), "R 77:77");
  EXPECT_EQ(s.endpoint().state(), State::kSynSent);
  s.in(". 4:4 ack 1");  // a challenge ACK of an old incarnation, which has our number by chance
  EXPECT_EQ(s.endpoint().state(), State::kSynSent);
}

TEST(Handshake, WrongAckInSynReceivedIsReset) {
  Script s;
  s.accept("S 0:0 win 65535 mss 1460");
  s.out();
  s.in(". 1:1 ack 77");
  EXPECT_EQ(s.out(), "R 77:77");
  EXPECT_EQ(s.endpoint().state(), State::kSynReceived);
  s.in("P 1:10");  // no ACK bit
  EXPECT_EQ(s.endpoint().state(), State::kSynReceived);
}

TEST(Handshake, SimultaneousOpen) {
  Script s;
  s.connect("mss 1460");
  EXPECT_EQ(s.out(), "S 0:0 mss 1460");
  s.in("S 0:0 win 65535 mss 1460");
  EXPECT_EQ(s.endpoint().state(), State::kSynReceived);
  EXPECT_EQ(s.out(), "S. 0:0 ack 1 mss 1460");
  s.in("S. 0:0 ack 1 win 65535 mss 1460");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
}

TEST(Handshake, ResetInSimultaneousOpenMeansRefused) {
  Script s;
  s.connect("mss 1460");
  s.out();
  s.in("S 0:0 win 65535 mss 1460");
  s.in("R 1:1");
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kRefused);
}

TEST(Handshake, AbortDuringTheHandshake) {
  Script server;
  server.accept("S 0:0 win 65535 mss 1460");
  server.out();
  server.endpoint().abort(server.now());
  EXPECT_EQ(server.out(), "R. 1:1 ack 1");
  Script client;
  client.connect("mss 1460");
  client.out();
  client.endpoint().abort(client.now());
  EXPECT_EQ(client.out(), "-");
  EXPECT_EQ(client.endpoint().lifecycle().reason(), CloseReason::kAborted);
}

}  // namespace
}  // namespace satrelay::tcp::test::handshake_test
