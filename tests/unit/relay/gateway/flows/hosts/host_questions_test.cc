// A host asks whether the far host is still there. Tests which side answers, and what happens while
// there is no answer.
#include "relay/gateway/flows/hosts/host_questions.h"

#include <gtest/gtest.h>

#include <vector>

#include "relay/gateway/flows/flow_modes.h"
#include "tests/unit/relay/gateway/devices/live_peer.h"
#include "tests/unit/relay/gateway/hosted_flow.h"

namespace satrelay::gateway::host_questions_test {
namespace {

using Speaks = LivePeer::Speaks;

class HostQuestionsTest : public testing::Test {
 protected:
  explicit HostQuestionsTest(Speaks speaks = Speaks::kHostWords)
      : peer_(carrier_, now_, stp::FecMode::kAuto, speaks) {
    f_.stream = *session().streams().open({}, 0, now_);
    f_.state.open_stream();
    exchange();
  }
  stp::Session& session() { return peer_.session(); }
  void exchange() {
    for (int i = 0; i < 20; ++i) peer_.exchange(now_);
  }
  // Our host asks, and the gateway handles the question.
  void ask(std::size_t garbage = 0) {
    f_.endpoint.questions().leave(may_ask(f_, session()));
    host_.ask(now_, garbage);
    hear_question(f_, session(), counters_, now_);
    go_on();
  }
  void go_on() {
    if (f_.rare().questions) seeks_ |= go_on_with_questions(f_, session(), counters_, now_);
    confirm(f_, session(), now_);
  }
  // The gateways exchange packets, and the flow moves its questions on.
  void meet() {
    exchange();
    go_on();
  }
  std::uint64_t asked() { return peer_.far().streams().confirmation(f_.stream).keep_alives; }
  stp::HostAnswer told() { return peer_.far().streams().confirmation(f_.stream).word; }
  void say_of_far_host(std::uint64_t question, bool silent) {
    peer_.far().streams().confirm(f_.stream, {.word = {question, silent}}, now_);
    meet();
  }
  // The far host asks.
  void follow_question(std::uint64_t number) {
    follow(f_, session(), {.keep_alives = number}, now_);
    go_on();
  }
  // Whether a segment leaves for our host.
  bool speaks() { return f_.endpoint.poll_segment(now_).has_value(); }

  Instant now_ = Instant::from_nanoseconds(1);
  Carrier carrier_{link_of(BitRate::bits_per_second(10'000'000)), 2, 16};
  LivePeer peer_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(1U << 20);
  Arena arena_{memory_, 4096};
  HostedFlow host_{arena_, now_};
  Flow& f_ = host_.flow;
  Counters counters_;
  bool seeks_ = false;
};

TEST_F(HostQuestionsTest, TheAnswerWaitsForTheWordOfTheFarHost) {
  ask();
  meet();
  EXPECT_EQ(asked(), 1U);
  EXPECT_FALSE(speaks());
  say_of_far_host(1, false);
  EXPECT_TRUE(speaks());
  EXPECT_FALSE(speaks()) << "once";
  EXPECT_TRUE(end_of_question(f_).is_never());
}

TEST_F(HostQuestionsTest, ASilentHostDrawsNoAnswer) {
  ask();
  meet();
  say_of_far_host(1, true);
  EXPECT_FALSE(speaks());
  EXPECT_TRUE(end_of_question(f_).is_never()) << "nobody answers for it";
  EXPECT_EQ(counters_[Counter::kQuestionsWithheld], 1U);
  say_of_far_host(1, false);
  EXPECT_TRUE(speaks()) << "it is back";
}

TEST_F(HostQuestionsTest, EachQuestionHasAWordOfItsOwn) {
  ask();
  meet();
  say_of_far_host(1, false);
  EXPECT_TRUE(speaks());
  ask();
  meet();
  EXPECT_EQ(asked(), 2U);
  EXPECT_FALSE(speaks()) << "the word was about the first";
  say_of_far_host(9, false);
  EXPECT_FALSE(speaks()) << "nobody has asked that";
  say_of_far_host(9, true);
  EXPECT_EQ(counters_[Counter::kQuestionsWithheld], 0U);
}

TEST_F(HostQuestionsTest, OfALivePeerWithoutAWordTheGatewayAnswers) {
  ask();
  meet();
  const Instant end = end_of_question(f_);
  EXPECT_GE(end, now_ + Duration::seconds(1));
  EXPECT_LE(end, now_ + Duration::seconds(2) + session().path().smoothed_rtt() * 2);
  while (now_ < end) exchange();
  EXPECT_FALSE(speaks());
  go_on();
  EXPECT_TRUE(speaks());
  EXPECT_EQ(counters_[Counter::kQuestionsUnanswered], 1U);
  EXPECT_TRUE(end_of_question(f_).is_never());
}

TEST_F(HostQuestionsTest, AWordOfSilenceHoldsUntilItIsTakenBack) {
  ask();
  meet();
  say_of_far_host(1, true);
  for (int question = 2; question < 5; ++question) {
    ask();
    while (now_ < end_of_question(f_)) exchange();
    go_on();
    EXPECT_FALSE(speaks()) << "nobody has heard it since";
  }
  EXPECT_EQ(counters_[Counter::kQuestionsWithheld], 4U);
  EXPECT_EQ(counters_[Counter::kQuestionsUnanswered], 0U);
  ask();
  meet();
  say_of_far_host(5, false);
  EXPECT_TRUE(speaks());
}

TEST_F(HostQuestionsTest, OfASuspectPeerNobodyAnswers) {
  for (int i = 0; i < 400; ++i) {
    now_ += Duration::milliseconds(10);
    if (session().next_timeout() <= now_) session().handle_timeout(now_);
  }
  ASSERT_EQ(session().peer_state(), stp::PeerState::kSuspect);
  for (std::uint64_t question = 1; question < 5; ++question) {
    ask();
    now_ = end_of_question(f_);
    go_on();
    EXPECT_FALSE(speaks());
    EXPECT_EQ(counters_[Counter::kQuestionsWithheld], question);
  }
}

TEST_F(HostQuestionsTest, OneQuestionIsOutstandingHoweverOftenAHostAsks) {
  for (int i = 0; i < 1'000; ++i) ask();
  meet();
  EXPECT_EQ(counters_[Counter::kQuestionsAsked], 1U);
  EXPECT_EQ(asked(), 1U);
  EXPECT_FALSE(speaks());
}

// The ACK of a single byte may be lost. Then the host sends the byte again.
TEST_F(HostQuestionsTest, TheLastByteSentAgainIsAcknowledged) {
  host_.say_some(1, now_);
  f_.heat(now_).last_payload = now_;
  while (speaks()) {
  }
  now_ += Duration::seconds(6);
  ask(1);
  EXPECT_TRUE(speaks());
  EXPECT_EQ(counters_[Counter::kQuestionsAsked], 0U);
  ask(1);
  EXPECT_FALSE(speaks()) << "it is garbage";
  EXPECT_EQ(counters_[Counter::kQuestionsAsked], 1U);
}

// Such a host waits for room, or a window update was lost.
TEST_F(HostQuestionsTest, AHostThatHasJustSentIsAnsweredAtOnce) {
  f_.heat(now_).last_payload = now_;
  now_ += Duration::milliseconds(4'900);
  ask();
  EXPECT_TRUE(speaks());
  now_ += Duration::milliseconds(200);
  ask();
  EXPECT_FALSE(speaks());
  EXPECT_EQ(counters_[Counter::kQuestionsAsked], 1U);
}

// The keep-alives of some hosts have a byte of garbage.
TEST_F(HostQuestionsTest, AByteLongAfterTheLastOneAsks) {
  host_.say_some(1, now_);
  f_.heat(now_).last_payload = now_;
  while (speaks()) {
  }
  now_ += Duration::seconds(31);
  ask(1);
  EXPECT_FALSE(speaks());
  EXPECT_EQ(counters_[Counter::kQuestionsAsked], 1U);
}

TEST_F(HostQuestionsTest, WithoutAStreamTheGatewayAnswers) {
  ask();
  EXPECT_FALSE(speaks());
  f_.state.end_stream();
  EXPECT_FALSE(go_on_with_questions(f_, session(), counters_, now_));
  EXPECT_TRUE(speaks()) << "nobody will";
  ask();
  EXPECT_TRUE(speaks());
}

TEST_F(HostQuestionsTest, OurHostIsAskedOnceAndItsWordIsTold) {
  follow_question(1);
  EXPECT_TRUE(speaks());
  EXPECT_FALSE(speaks());
  EXPECT_EQ(told().question, 0U);
  host_.say({}, now_);
  go_on();
  meet();
  EXPECT_EQ(told(), (stp::HostAnswer{1, false}));
  EXPECT_TRUE(end_of_question(f_).is_never());
}

TEST_F(HostQuestionsTest, OfOurHostsSilenceThePeerIsTold) {
  follow_question(1);
  EXPECT_TRUE(speaks());
  now_ = end_of_question(f_);
  go_on();
  EXPECT_FALSE(speaks()) << "it is asked once";
  meet();
  EXPECT_EQ(told(), (stp::HostAnswer{1, true}));
  EXPECT_FALSE(seeks_) << "one answer may be lost";
  EXPECT_FALSE(f_.endpoint.is_closed());
  EXPECT_TRUE(f_.endpoint.next_timeout().is_never()) << "nothing ends it";
  host_.say({}, now_);
  go_on();
  meet();
  EXPECT_EQ(told(), (stp::HostAnswer{1, false})) << "late, but there";
  for (const std::uint64_t question : {2U, 3U}) {
    now_ += Duration::seconds(5);
    follow_question(question);
    now_ = end_of_question(f_);
    go_on();
    EXPECT_EQ(seeks_, question == 3) << "it may be elsewhere";
  }
}

TEST_F(HostQuestionsTest, QuestionsWhileOurHostIsAskedHaveOneWord) {
  for (std::uint64_t number = 1; number < 100; ++number) follow_question(number);
  EXPECT_TRUE(speaks());
  EXPECT_FALSE(speaks());
  host_.say({}, now_);
  go_on();
  meet();
  EXPECT_EQ(told(), (stp::HostAnswer{99, false}));
}

// Linux answers at most two keep-alives a second.
TEST_F(HostQuestionsTest, AHostThatWasJustHeardIsNotAskedAgain) {
  follow_question(1);
  EXPECT_TRUE(speaks());
  host_.say({}, now_);
  go_on();
  follow_question(2);
  EXPECT_FALSE(speaks());
  meet();
  EXPECT_EQ(told(), (stp::HostAnswer{2, false}));
  now_ += Duration::seconds(1);
  follow_question(3);
  EXPECT_TRUE(speaks());
}

class QuestionsWithAnOlderPeer : public HostQuestionsTest {
 protected:
  QuestionsWithAnOlderPeer() : HostQuestionsTest(Speaks::kOlder) {}
};

TEST_F(QuestionsWithAnOlderPeer, AreAnsweredAtOnceAndAskedForAMinute) {
  ASSERT_FALSE(session().agreed().host_words());
  ask();
  EXPECT_TRUE(speaks());
  meet();
  EXPECT_EQ(asked(), 1U) << "the peer asks its host";
  EXPECT_EQ(counters_[Counter::kQuestionsAsked], 0U);
  follow_question(1);
  EXPECT_TRUE(speaks());
  for (int i = 0; i < 70; ++i) {
    now_ += Duration::seconds(1);
    f_.endpoint.handle_timeout(now_);
  }
  EXPECT_TRUE(f_.endpoint.is_closed());
  EXPECT_EQ(f_.endpoint.lifecycle().reason(), tcp::CloseReason::kTimeout);
}

}  // namespace
}  // namespace satrelay::gateway::host_questions_test
