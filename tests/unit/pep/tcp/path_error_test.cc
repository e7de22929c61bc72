// ICMP errors other than "too big" (RFC 1122 section 4.2.3.9, RFC 5927, RFC 9293 section 3.9.2.2).
#include "pep/base/random.h"
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::path_error_test {
namespace {

void error(Script& s, std::uint32_t sequence, PathError kind) {
  s.endpoint().handle_path_error(kOurIsn + sequence, kind);
}

TEST(PathErrors, AHardOneAboutTheSynEndsTheAttempt) {
  Script s;
  s.connect("mss 1460");
  EXPECT_EQ(s.out().substr(0, 5), "S 0:0");
  error(s, 0, PathError::kHard);
  EXPECT_TRUE(s.endpoint().is_closed());
  EXPECT_EQ(s.endpoint().close_reason(), CloseReason::kRefused);
  EXPECT_EQ(s.out(), "-");
}

TEST(PathErrors, SoDoesASoftOne) {
  Script s;
  s.connect("mss 1460");
  s.out();
  EXPECT_TRUE(s.endpoint().handle_path_error(kOurIsn, PathError::kSoft));
  EXPECT_EQ(s.endpoint().close_reason(), CloseReason::kUnreachable);
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
  EXPECT_EQ(s.endpoint().close_reason(), CloseReason::kUnreachable);
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
  EXPECT_EQ(s.endpoint().unacknowledged(), 0u);
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
  EXPECT_EQ(s.endpoint().close_reason(), CloseReason::kRefused);
  EXPECT_EQ(s.endpoint().counters().path_errors_rejected, 1u);
}

}  // namespace
}  // namespace satrelay::tcp::test::path_error_test
