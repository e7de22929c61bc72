// ICMP "too big" (RFC 1191, RFC 8201, RFC 5927) and other ICMP errors (RFC 1122 section 4.2.3.9,
// RFC 5927, RFC 9293 section 3.9.2.2).
#include "pep/base/random.h"
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::path_errors_test {
namespace {

void error(Script& s, std::uint32_t sequence, PathError kind) {
  s.endpoint().handle_path_error(kOurIsn + sequence, kind);
}

void too_big(Script& s, std::uint32_t sequence, std::uint16_t limit) {
  s.endpoint().handle_packet_too_big(kOurIsn + sequence, limit, s.now());
}

TEST(PathErrors, AHardOneAboutTheSynEndsTheAttempt) {
  Script s;
  s.connect("mss 1460");
  EXPECT_EQ(s.out().substr(0, 5), "S 0:0");
  error(s, 0, PathError::kHard);
  EXPECT_TRUE(s.endpoint().is_closed());
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kRefused);
  EXPECT_EQ(s.out(), "-");
}

TEST(PathErrors, SoDoesASoftOne) {
  Script s;
  s.connect("mss 1460");
  s.out();
  EXPECT_TRUE(s.endpoint().handle_path_error(kOurIsn, PathError::kSoft));
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kUnreachable);
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.endpoint().next_timeout(), Instant::never());
}

TEST(PathErrors, APassingOneIsTheReasonWhenNoSynIsAnswered) {
  Script s;
  s.connect("mss 1460");
  s.out();
  EXPECT_FALSE(s.endpoint().handle_path_error(kOurIsn, PathError::kPassing));
  Duration waited;
  while (!s.endpoint().is_closed()) {
    waited = waited + s.wait_for_timer();
    s.out_all();
  }
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kUnreachable);
  EXPECT_GE(waited, Duration::seconds(180));  // RFC 9293 section 3.8.3
}

// RFC 5927 section 4.1. The random numbers are the same in each run.
TEST(PathErrors, AMillionGuessesEndNothing) {
  Script opening;
  opening.connect("mss 1460");
  opening.out();
  Script standing;
  standing.establish_as_server();
  standing.write(1000);
  standing.out();
  Random random(1);
  for (int i = 0; i < 500'000; ++i) {
    for (Script* s : {&opening, &standing}) {
      const auto kind = (i & 1) != 0 ? PathError::kHard : PathError::kSoft;
      s->endpoint().handle_path_error(static_cast<std::uint32_t>(random.next()), kind);
    }
  }
  EXPECT_EQ(opening.endpoint().state(), State::kSynSent);
  EXPECT_EQ(opening.endpoint().counters().path_errors_rejected, 500'000U);
  EXPECT_EQ(standing.endpoint().state(), State::kEstablished);
  opening.in("S. 0:0 ack 1 mss 1460");
  EXPECT_EQ(opening.endpoint().state(), State::kEstablished);
}

TEST(PathErrors, WhatQuotesNothingOutstandingIsNotBelieved) {
  Script s;
  s.connect("mss 1460");
  s.out();
  for (const std::uint32_t sequence : {1U, 2U, 1000U, 0x8000'0000U, 0xffff'ffffU}) {
    error(s, sequence, PathError::kHard);
    EXPECT_EQ(s.endpoint().state(), State::kSynSent) << sequence;
  }
  EXPECT_EQ(s.endpoint().counters().path_errors_rejected, 5u);
  EXPECT_EQ(s.endpoint().counters().path_errors_in, 0u);
}

TEST(PathErrors, NoneEndsAConnectionThatStands) {
  Script s;
  s.establish_as_server();
  s.write(1000);
  s.out();
  error(s, 1, PathError::kHard);
  error(s, 1001, PathError::kHard);
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
  EXPECT_EQ(s.endpoint().counters().path_errors_in, 1u);
  EXPECT_EQ(s.endpoint().counters().path_errors_rejected, 1u);
  s.in(". 1:1 ack 1001");
  EXPECT_EQ(s.endpoint().sending().unacknowledged(), 0u);
}

TEST(PathErrors, NoneEndsAHandshakeThatTheHostBegan) {
  Script s;
  s.accept("S 0:0 mss 1460");
  s.out();
  error(s, 0, PathError::kHard);
  EXPECT_EQ(s.endpoint().state(), State::kSynReceived);
  s.in(". 1:1 ack 1");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
}

TEST(PathErrors, NoneMeansAnythingAfterTheEnd) {
  Script s;
  s.connect("mss 1460");
  s.out();
  s.in("R. 0:0 ack 1");
  error(s, 0, PathError::kHard);
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kRefused);
  EXPECT_EQ(s.endpoint().counters().path_errors_rejected, 1u);
}

TEST(PathMtu, WhatIsUnderWayGoesAgainInSmallerSegmentsAtOnce) {
  for (const char* options : {"mss 1460 sackok", "mss 1460"}) {
    Script s;
    s.establish_as_server(options);
    s.write(4000);
    EXPECT_EQ(s.out_all().size(), 3u);
    too_big(s, 1, 1360);
    EXPECT_EQ(s.out_all(), (Lines{". 1:1361 ack 1", ". 1361:2721 ack 1", "P. 2721:4001 ack 1"}));
    // The error is no sign of congestion.
    EXPECT_EQ(s.endpoint().sending().congestion_window(), 14'600u);
    EXPECT_EQ(s.endpoint().sending().segment_size(), 1360);
    s.in(". 1:1 ack 4001");
    EXPECT_EQ(s.endpoint().counters().fast_recoveries, 0u);
    s.write(2000);
    EXPECT_EQ(s.out_all(), (Lines{". 4001:5361 ack 1", "P. 5361:6001 ack 1"}));
    EXPECT_EQ(s.endpoint().counters().path_mtu_reductions, 1u);
  }
}

TEST(PathMtu, OptionsCountAgainstIt) {
  Script s;
  s.establish_as_server("mss 1460 sackok ts 1 0");
  s.write(3000);
  s.out_all();
  too_big(s, 1, 1000);
  EXPECT_EQ(s.endpoint().sending().segment_size(), 988);
  EXPECT_EQ(s.out().substr(0, 7), ". 1:989");
}

TEST(PathMtu, WhatWasSentBeforeTheQuotedSegmentIsNotRepeated) {
  Script s;
  s.establish_as_server();
  s.write(4000);
  s.out_all();
  too_big(s, 2921, 536);
  EXPECT_EQ(s.out().substr(0, 11), ". 2921:3457");
}

TEST(PathMtu, OnlyWhatQuotesOutstandingDataIsBelieved) {  // RFC 5927 section 4.1
  Script s;
  s.establish_as_server();
  s.write(1000);
  s.out();
  s.in(". 1:1 ack 501");
  for (const std::uint32_t sequence : {0U, 500U, 1001U, 50'000U, 0x8000'0000U}) {
    too_big(s, sequence, 536);
    EXPECT_EQ(s.endpoint().sending().segment_size(), 1460) << sequence;
  }
  too_big(s, 501, 536);
  EXPECT_EQ(s.endpoint().sending().segment_size(), 536);
}

TEST(PathMtu, NeverGrowsNorFallsWithoutBound) {
  Script s;
  s.establish_as_server();
  s.write(1000);
  s.out();
  too_big(s, 1, 1460);
  too_big(s, 1, 9000);
  EXPECT_EQ(s.out(), "-");
  too_big(s, 1, 0);
  EXPECT_EQ(s.endpoint().sending().segment_size(), 512);
}

TEST(PathMtu, MeansNothingBeforeAndAfterTheConnection) {
  Script s;
  s.connect("mss 1460");
  s.out();
  too_big(s, 0, 536);
  s.in("S. 0:0 ack 1 mss 1460");
  EXPECT_EQ(s.endpoint().sending().segment_size(), 1460);
  s.endpoint().abort(s.now());
  too_big(s, 1, 536);
  EXPECT_EQ(s.endpoint().counters().path_mtu_reductions, 0u);
}

}  // namespace
}  // namespace satrelay::tcp::test::path_errors_test
