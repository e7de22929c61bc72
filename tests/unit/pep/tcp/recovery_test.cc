// Loss: fast retransmit, SACK recovery, timeouts, and the round trips measured meanwhile.
#include <algorithm>

#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::recovery_test {
namespace {

std::string ack(std::uint64_t position, const std::string& more = "") {
  return ". 1:1 ack " + std::to_string(position) + more;
}

// Sends ten segments of 1000 bytes, at 1, 1001, ... 9001. Nothing more fits the window.
void send_ten(Script& s, const std::string& options) {
  s.establish_as_server(options);
  s.write(10'000);
  ASSERT_EQ(s.out_all().size(), 10u);
}

constexpr char kSack[] = "mss 1000 sackok";
constexpr char kPlain[] = "mss 1000";

// --- SACK --------------------------------------------------------------------------------------

TEST(Sack, ThirdDuplicateStartsFastRetransmit) {
  Script s;
  send_ten(s, kSack);
  s.in(ack(1, " sack 1001:2001"));
  s.in(ack(1, " sack 1001:3001"));
  EXPECT_EQ(s.out(), "-");
  s.in(ack(1, " sack 1001:4001"));
  EXPECT_EQ(s.out(), ". 1:1001 ack 1");
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.endpoint().counters().fast_recoveries, 1u);
  EXPECT_EQ(s.endpoint().sending().congestion_window(), 5000u);
  s.in(ack(10'001));
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
  EXPECT_EQ(s.endpoint().counters().retransmission_timeouts, 0u);
}

TEST(Sack, MoreThanTwoSegmentsReportedAboveIsEnough) {  // however few ACKs report them
  Script s;
  send_ten(s, kSack);
  s.in(ack(1, " sack 1001:4001"));
  EXPECT_EQ(s.out(), ". 1:1001 ack 1");
}

TEST(Sack, TwoSegmentsReportedAboveAreNot) {
  Script s;
  send_ten(s, kSack);
  s.in(ack(1, " sack 1001:3001"));
  EXPECT_EQ(s.out(), "-");
}

TEST(Sack, RepeatedReportIsNoDuplicateAck) {
  Script s;
  send_ten(s, kSack);
  for (int i = 0; i < 5; ++i) s.in(ack(1, " sack 1001:2001"));
  EXPECT_EQ(s.out(), "-");
}

TEST(Sack, ThreeSmallSegmentsCountByTheirAcks) {
  Script s;
  s.establish_as_server(kSack);
  for (int i = 0; i < 4; ++i) {
    s.write(10);
    s.out();
  }
  s.in(ack(1, " sack 11:21"));
  s.in(ack(1, " sack 11:31"));
  EXPECT_EQ(s.out(), "-");
  s.in(ack(1, " sack 11:41"));
  EXPECT_EQ(s.out(), ". 1:11 ack 1");
}

TEST(Sack, SeveralHolesAreFilledWithinOneRoundTrip) {
  Script s;
  send_ten(s, kSack);
  s.wait(ms(1));
  // Lost: 1, 3001, 6001. The others arrive. The window of 5 segments lets the holes be
  // retransmitted as pipe falls.
  s.in(ack(1, " sack 1001:3001"));
  s.in(ack(1, " sack 4001:6001,1001:3001"));
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});
  s.in(ack(1, " sack 7001:10001,4001:6001,1001:3001"));
  EXPECT_EQ(s.out_all(), (Lines{". 3001:4001 ack 1", ". 6001:7001 ack 1"}));
  s.in(ack(3001, " sack 7001:10001,4001:6001"));
  s.in(ack(6001, " sack 7001:10001"));
  EXPECT_EQ(s.out(), "-");
  s.in(ack(10'001));
  EXPECT_EQ(s.endpoint().counters().retransmitted_segments, 3u);
  EXPECT_EQ(s.endpoint().counters().fast_recoveries, 1u);
  EXPECT_EQ(s.endpoint().counters().retransmission_timeouts, 0u);
}

TEST(Sack, NewDataFlowsDuringRecoveryAsThePipeDrains) {
  Script s;
  send_ten(s, kSack);
  s.write(5000);
  s.in(ack(1, " sack 1001:4001"));
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});  // pipe 7, window 5
  s.in(ack(1, " sack 1001:7001"));                  // pipe 4: one segment more
  EXPECT_EQ(s.out_all(), Lines{". 10001:11001 ack 1"});
}

TEST(Sack, LimitedTransmit) {  // RFC 3042: new data on the first two duplicates
  Script s;
  send_ten(s, kSack);
  s.write(5000);
  s.in(ack(1, " sack 1001:2001"));
  EXPECT_EQ(s.out_all(), Lines{". 10001:11001 ack 1"});
}

TEST(Sack, InRecoveryAHoleBelowTheHighestReportIsLost) {  // RFC 8985 section 6.2 step 4
  Script s;
  send_ten(s, kSack);
  s.wait(ms(1));
  s.in(ack(1, " sack 1001:6001"));
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});
  s.in(ack(1, " sack 7001:9001,1001:6001"));
  EXPECT_EQ(s.out_all(), Lines{". 6001:7001 ack 1"});
  EXPECT_EQ(s.out(), "-");
}

TEST(Sack, LostRetransmissionIsFoundByDataSentAfterIt) {
  Script s;
  send_ten(s, kSack);
  s.write(10'000);
  s.wait(ms(1));
  s.in(ack(1, " sack 1001:10001"));
  const Lines sent = s.out_all();
  ASSERT_EQ(sent.front(), ". 1:1001 ack 1");
  ASSERT_EQ(sent.size(), 5u);  // and four new segments, from 10001 on
  s.wait(ms(1));
  s.in(ack(1, " sack 1001:11001"));
  EXPECT_EQ(s.out_all().front(), ". 1:1001 ack 1");  // a third time, without a timeout
  EXPECT_EQ(s.endpoint().counters().retransmission_timeouts, 0u);
}

TEST(Sack, LostRetransmissionAtTheTailIsLeftToTheTimer) {
  Script s;
  send_ten(s, kSack);
  s.in(ack(1, " sack 1001:10001"));
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});
  s.wait_for_timer();
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});
  s.in(ack(10'001));
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
}

TEST(Sack, NonsenseBlocksAreIgnored) {
  Script s;
  send_ten(s, kSack);
  s.in(ack(1, " sack 5001:4001,20001:30001,4000000000:5001"));
  s.in(ack(3001, " sack 1:1001"));  // a duplicate report (RFC 2883)
  EXPECT_EQ(s.out(), "-");
  s.in(ack(10'001));
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
}

// The peer reports each second byte, in a mixed order. Some reports are kept, and the others are
// forgotten.
TEST(Sack, ReportsOfScatteredBytesAreForgotten) {
  Script s;
  send_ten(s, kSack);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t at = 1003 + 2 * (i * 389 % 1000);
    s.in(ack(1, " sack " + std::to_string(at) + ":" + std::to_string(at + 1)));
    s.out_all();
  }
  EXPECT_EQ(s.endpoint().counters().reports_dropped, 1000u - Scoreboard::kFewestReports);
  // A report that joins many ranges is kept, and the recovery goes on as usual.
  s.in(ack(1, " sack 1001:10001"));
  s.wait_for_timer();
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});
  s.in(ack(10'001));
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
}

TEST(Sack, FinCanBeReported) {
  Script s;
  s.establish_as_server(kSack);
  s.write(2000);
  s.endpoint().close();
  EXPECT_EQ(s.out_all(), (Lines{". 1:1001 ack 1", "FP. 1001:2001 ack 1"}));
  s.in(ack(1, " sack 1001:2002"));
  s.wait_for_timer();
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});  // the reported segment is not repeated
  s.in(ack(2002));
  EXPECT_EQ(s.endpoint().state(), State::kFinWait2);
}

// --- without SACK --------------------------------------------------------------------------------

TEST(NewRenoRecovery, ThirdDuplicateAckAndPartialAcks) {
  Script s;
  send_ten(s, kPlain);
  s.write(4000);
  s.in(ack(1));
  EXPECT_EQ(s.out_all(), Lines{". 10001:11001 ack 1"});  // limited transmit
  s.in(ack(1));
  EXPECT_EQ(s.out_all(), Lines{". 11001:12001 ack 1"});
  s.in(ack(1));
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});
  EXPECT_EQ(s.endpoint().counters().fast_recoveries, 1u);
  s.in(ack(4001));  // a partial ACK: 4001 is missing too
  EXPECT_EQ(s.out_all().front(), ". 4001:5001 ack 1");
  s.in(ack(12'001));
  EXPECT_EQ(s.endpoint().counters().fast_recoveries, 1u);
  EXPECT_EQ(s.endpoint().counters().retransmitted_segments, 2u);
}

TEST(NewRenoRecovery, DataAndWindowUpdatesAreNoDuplicateAcks) {
  Script s;
  send_ten(s, kPlain);
  s.in(". 1:101 ack 1");
  s.in(". 101:201 ack 1");
  s.in(". 201:301 ack 1");
  s.in(". 301:301 ack 1 win 60001");
  s.in(". 301:301 ack 1 win 60002");
  s.in(". 301:301 ack 1 win 60003");
  s.out();
  EXPECT_EQ(s.endpoint().counters().fast_recoveries, 0u);
  EXPECT_EQ(s.out(), "-");
}

TEST(NewRenoRecovery, OurDuplicateAcksCarryNoData) {
  Script s;
  s.establish_as_server(kPlain);
  s.write(100);
  s.in(". 101:201 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 1");
  EXPECT_EQ(s.out(), "P. 1:101 ack 1");
}

// --- timeouts, of peers without SACK where a tail loss probe would come first --------------------

TEST(Timeout, BacksOffThenGivesUp) {
  Script s;
  s.establish_as_server(kPlain);
  s.write(100);
  s.out();
  const Duration first = s.wait_for_timer();
  EXPECT_GE(first, ms(200));
  EXPECT_LE(first, ms(210));
  Duration expected = first;
  Duration waited = first;
  for (int i = 1; i < 22; ++i) {
    EXPECT_EQ(s.endpoint().sending().is_in_vain(), waited > Duration::seconds(100)) << i;
    EXPECT_EQ(s.out(), "P. 1:101 ack 1");
    EXPECT_EQ(s.out(), "-");
    expected = std::min(expected * 2, Duration::seconds(60));
    EXPECT_EQ(s.wait_for_timer(), expected);
    waited = waited + expected;
  }
  EXPECT_EQ(s.out(), "P. 1:101 ack 1");
  EXPECT_EQ(s.wait_for_timer(), Duration::seconds(60));
  EXPECT_GE(waited + Duration::seconds(60), Duration::seconds(925)) << "as long as Linux";
  EXPECT_EQ(s.endpoint().state(), State::kClosed);
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kTimeout);
  EXPECT_EQ(s.out(), "R. 101:101 ack 1");
  EXPECT_EQ(s.arena().used_blocks(), 0u);
}

TEST(Timeout, SendsOneSegmentThenDoublesAsAcksCome) {
  Script s;
  send_ten(s, kPlain);
  s.wait_for_timer();
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});
  EXPECT_EQ(s.endpoint().sending().congestion_window(), 1000u);
  s.in(ack(1001));
  EXPECT_EQ(s.out_all(), (Lines{". 1001:2001 ack 1", ". 2001:3001 ack 1"}));
  s.in(ack(3001));
  EXPECT_EQ(s.out_all().size(), 4u);
}

TEST(Timeout, KeepsWhatThePeerHasReported) {
  Script s;
  send_ten(s, kSack);
  s.in(ack(1, " sack 1001:3001"));
  s.in(ack(1, " sack 5001:6001,1001:3001"));
  s.out_all();
  s.wait_for_timer();
  EXPECT_EQ(s.out_all().front(), ". 1:1001 ack 1");
  s.in(ack(3001, " sack 5001:6001"));
  EXPECT_EQ(s.out_all(), (Lines{". 3001:4001 ack 1", ". 4001:5001 ack 1"}));
  s.in(ack(6001));
  EXPECT_EQ(s.out_all().front(), ". 6001:7001 ack 1");  // 5001 was not sent again
}

TEST(Timeout, ForgetsReportsOfAPeerThatReneged) {
  Script s;
  send_ten(s, kSack);
  s.in(ack(1, " sack 1001:3001"));
  s.in(ack(1001));  // the ACK should have said 3001
  s.wait_for_timer();
  EXPECT_EQ(s.out_all(), Lines{". 1001:2001 ack 1"});
}

TEST(Timeout, BackoffEndsWithASampleThatCannotBeAmbiguous) {  // Karn
  Script s;
  s.establish_as_server(kPlain);
  s.write(100);
  s.out();
  s.wait_for_timer();
  s.out();
  s.wait(ms(100));
  s.in(ack(101));  // ambiguous: of the first segment or of its repetition
  EXPECT_LT(s.endpoint().sending().smoothed_rtt(), ms(1));
  s.write(100);
  s.out();
  EXPECT_GE(s.wait_for_timer(), ms(400));  // still backed off
  s.out();
  s.in(ack(201));
  s.write(100);
  s.out();
  s.wait(ms(3));
  s.in(ack(301));
  s.write(100);
  s.out();
  EXPECT_LE(s.wait_for_timer(), ms(210));
}

TEST(Timeout, FastRetransmitIsNotTimedEither) {
  Script s;
  send_ten(s, kSack);
  s.wait(ms(50));
  s.in(ack(1, " sack 1001:10001"));
  EXPECT_EQ(s.out(), ". 1:1001 ack 1");
  s.wait(ms(40));
  s.in(ack(10'001));
  EXPECT_LT(s.endpoint().sending().smoothed_rtt(), ms(1));
}

TEST(Timeout, TimestampsMakeASampleOfARetransmissionCertain) {
  Script s;
  s.establish_as_server("mss 1000 sackok ts 1 0");
  s.write(100);
  s.out();
  s.wait_for_timer();
  EXPECT_EQ(s.out(), "P. 1:101 ack 1 ts 1200 1");
  s.wait(ms(8));
  s.in(ack(101, " ts 2 1200"));
  EXPECT_GE(s.endpoint().sending().smoothed_rtt(), ms(1));  // 1/8 of 8 ms
  s.write(100);
  s.out();
  EXPECT_LE(s.wait_for_timer(), ms(210));  // no backoff left
}

TEST(Timeout, ForgedEchoIsNoSample) {
  Script s;
  s.establish_as_server("mss 1000 sackok ts 1 0");
  s.write(100);
  s.out();
  s.wait_for_timer();
  s.out();
  s.in(ack(101, " ts 2 4000000000"));
  EXPECT_LT(s.endpoint().sending().smoothed_rtt(), ms(1));
}

TEST(Timeout, AckOfNewDataRestartsTheTimer) {
  Script s;
  send_ten(s, kPlain);
  s.wait(ms(150));
  s.in(ack(1001));
  EXPECT_GE(s.wait_for_timer(), ms(200));
}

TEST(Timeout, LostFinIsRepeated) {
  Script s;
  s.establish_as_server(kPlain);
  s.endpoint().close();
  EXPECT_EQ(s.out(), "F. 1:1 ack 1");
  s.wait_for_timer();
  EXPECT_EQ(s.out(), "F. 1:1 ack 1");
  s.in(ack(2));
  EXPECT_EQ(s.endpoint().state(), State::kFinWait2);
}

TEST(Timeout, RetransmissionIncludesTheFinThatFollowedLater) {
  Script s;
  s.establish_as_server(kPlain);
  s.write(100);
  EXPECT_EQ(s.out(), "P. 1:101 ack 1");
  s.endpoint().close();
  EXPECT_EQ(s.out(), "F. 101:101 ack 1");
  s.wait_for_timer();
  EXPECT_EQ(s.out(), "FP. 1:101 ack 1");
}

// --- sequence numbers ----------------------------------------------------------------------------

TEST(Wrap, AllOfItWorksAcrossTheEndOfSequenceSpace) {
  Config config = Script::plain_config();
  config.initial_sequence = 0xffff'fffeU - 2500;
  Script s({config, 8U << 20, 4096, 0xffff'fffeU - 1700});
  send_ten(s, kSack);
  s.in(ack(1, " sack 1001:5001"));
  EXPECT_EQ(s.out_all(), Lines{". 1:1001 ack 1"});
  s.in(ack(5001));
  s.in(". 1001:2001 ack 10001");
  EXPECT_EQ(s.out(), ". 10001:10001 ack 1 sack 1001:2001");
  s.in(". 1:1001 ack 10001");
  EXPECT_EQ(s.out(), ". 10001:10001 ack 2001");
  s.consume(2000);
  s.in("F. 2001:2001 ack 10001");
  EXPECT_EQ(s.out(), ". 10001:10001 ack 2002");
  s.endpoint().close();
  EXPECT_EQ(s.out(), "F. 10001:10001 ack 2002");
  s.in(". 2002:2002 ack 10002");
  EXPECT_EQ(s.endpoint().state(), State::kClosed);
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kNone);
}

}  // namespace
}  // namespace satrelay::tcp::test::recovery_test
