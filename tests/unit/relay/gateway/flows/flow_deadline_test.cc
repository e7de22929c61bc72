// How long a flow may be silent in each of its states, and when else the gateway looks at it.
#include "relay/gateway/flows/flow_deadline.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/relay/gateway/devices/live_peer.h"
#include "tests/unit/relay/gateway/hosted_flow.h"

namespace satrelay::gateway::flow_deadline_test {
namespace {

class FlowDeadlineTest : public testing::Test {
 protected:
  FlowDeadlineTest() {
    limits_.idle_timeout = Duration::seconds(7200);
    limits_.half_close_timeout = Duration::seconds(10);
    f_.stream = *session().streams().open({}, 0, now_);
    f_.state.open_stream();
    f_.timers.last_activity = now_;
  }
  stp::Session& session() { return peer_.session(); }
  // The far host ends its direction of the stream.
  void end(stp::StreamId stream) {
    exchange();
    peer_.far().streams().finish(stream);
    exchange();
    ASSERT_TRUE(session().streams().received_end(stream));
  }
  stp::StreamId open_inbound() {
    const stp::StreamId stream = *peer_.far().streams().open({}, 0, now_);
    exchange();
    return stream;
  }
  void exchange() {
    for (int i = 0; i < 20; ++i) peer_.exchange(now_);
  }
  void close_both() {
    end(f_.stream);
    host_.close(now_);
    f_.state.set_far_end(FlowState::FarEnd::kPassed);
  }
  bool only_owes() { return gateway::only_owes(f_, session()); }
  Duration quiet_limit() { return gateway::quiet_limit(f_, session(), limits_); }
  Instant deadline() { return gateway::deadline(f_, session(), limits_, kPatience); }

  static constexpr Duration kPatience = Duration::seconds(900);
  Instant now_ = Instant::from_nanoseconds(1);
  Carrier carrier_{link_of(BitRate::bits_per_second(10'000'000)), 2, 16};
  LivePeer peer_{carrier_, now_};
  std::vector<std::byte> memory_ = std::vector<std::byte>(1U << 20);
  Arena arena_{memory_, 4096};
  HostedFlow host_{arena_, now_};
  Flow& f_ = host_.flow;
  config::Limits limits_;
};

TEST_F(FlowDeadlineTest, WhileBothHostsMaySpeakTheIdleTimeoutHolds) {
  EXPECT_FALSE(only_owes());
  EXPECT_EQ(quiet_limit(), limits_.idle_timeout);
  EXPECT_EQ(deadline(), f_.timers.last_activity + limits_.idle_timeout);
}

TEST_F(FlowDeadlineTest, SilenceCountsFromTheLastActivity) {
  f_.timers.last_activity = now_ + Duration::seconds(60);
  EXPECT_EQ(deadline(), now_ + Duration::seconds(60) + limits_.idle_timeout);
}

TEST_F(FlowDeadlineTest, NothingIsNeededOfANearHostThatHasClosed) {
  host_.close(now_);
  EXPECT_FALSE(only_owes()) << "the far host may say more";
  EXPECT_FALSE(awaits_host(f_, session()));
  EXPECT_EQ(quiet_limit(), limits_.idle_timeout) << "the far gateway asks the far host";
  const std::vector<std::byte> said(100);
  ASSERT_EQ(f_.endpoint.write(said), said.size());
  EXPECT_TRUE(awaits_host(f_, session())) << "to take them";
  EXPECT_EQ(quiet_limit(), limits_.half_close_timeout);
}

TEST_F(FlowDeadlineTest, OnceTheFarHostHasClosedTheHalfCloseTimeoutHolds) {
  end(f_.stream);
  EXPECT_FALSE(only_owes()) << "the near host may say more";
  EXPECT_EQ(quiet_limit(), limits_.idle_timeout) << "the near host has yet to be told";
  f_.state.set_far_end(FlowState::FarEnd::kPassed);
  EXPECT_FALSE(only_owes());
  EXPECT_EQ(quiet_limit(), limits_.half_close_timeout);
}

TEST_F(FlowDeadlineTest, AHostThatTakesNothingOfAClosedConnectionIsNotWaitedForLonger) {
  close_both();
  EXPECT_TRUE(only_owes());
  EXPECT_EQ(quiet_limit(), limits_.half_close_timeout);
}

TEST_F(FlowDeadlineTest, WithoutItsStreamAClosedHostIsOnlyOwed) {
  host_.close(now_);
  f_.state.end_stream();
  f_.state.set_far_end(FlowState::FarEnd::kPassed);
  EXPECT_TRUE(only_owes());
  EXPECT_EQ(quiet_limit(), limits_.half_close_timeout);
}

TEST_F(FlowDeadlineTest, NothingIsOnlyOwedBeforeThereIsAStream) {
  end(f_.stream);
  host_.close(now_);
  f_.state = FlowState::kAwaitsPeer;
  EXPECT_FALSE(only_owes()) << "the number is another's";
}

TEST_F(FlowDeadlineTest, WhereBothHaveOpenedItIsTheInboundStreamThatEnds) {
  f_.make_rare().inbound = open_inbound();
  host_.close(now_);
  end(f_.stream);
  EXPECT_FALSE(only_owes()) << "the far host's bytes do not come by it";
  end(*f_.inbound());
  EXPECT_TRUE(only_owes());
}

TEST_F(FlowDeadlineTest, ARetryComesBeforeTheSilence) {
  f_.timers.retry_at = now_ + Duration::milliseconds(10);
  EXPECT_EQ(deadline(), f_.timers.retry_at);
}

TEST_F(FlowDeadlineTest, ATimerOfTheEndpointComesBeforeTheSilence) {
  const std::vector<std::byte> said(100);
  ASSERT_EQ(f_.endpoint.write(said), said.size());
  host_.listen(now_);
  const Instant sends_again = f_.endpoint.next_timeout();
  ASSERT_LT(sends_again, now_ + Duration::seconds(5));
  EXPECT_EQ(deadline(), sends_again);
  f_.timers.retry_at = sends_again + Duration::milliseconds(1);
  EXPECT_EQ(deadline(), sends_again) << "the earliest holds";
}

TEST_F(FlowDeadlineTest, AHostThatIsNotHeardIsWaitedForThreeSeconds) {
  f_.lan.to_host = {};
  f_.timers.last_activity = now_ + Duration::seconds(1);
  EXPECT_EQ(deadline(), f_.beginning.created + Duration::seconds(3)) << "whatever the peer says";
  f_.lan.to_host = host_to_server().reversed();
  EXPECT_EQ(deadline(), f_.timers.last_activity + limits_.idle_timeout) << "once it is heard";
}

TEST_F(FlowDeadlineTest, AClosedEndpointWaitsForNoHost) {
  f_.lan.to_host = {};
  f_.endpoint.abort(now_);
  EXPECT_EQ(deadline(), f_.timers.last_activity + limits_.idle_timeout);
}

TEST_F(FlowDeadlineTest, AFlowOwesThePeerWhatIsNotKnownToHaveArrived) {
  f_.state.complete_handshake();
  exchange();
  EXPECT_FALSE(owes_peer(f_, session()));
  const std::vector<std::byte> said(100);
  ASSERT_EQ(session().streams().write(f_.stream, said, now_), said.size());
  EXPECT_TRUE(owes_peer(f_, session()));
  exchange();
  EXPECT_FALSE(owes_peer(f_, session()));
  session().streams().finish(f_.stream);
  f_.state.set_host_end(FlowState::HostEnd::kInStream);
  EXPECT_TRUE(owes_peer(f_, session())) << "the end";
  f_.state.set_host_end(FlowState::HostEnd::kDelivered);
  EXPECT_FALSE(owes_peer(f_, session()));
}

TEST_F(FlowDeadlineTest, WhatWaitsForASilentPeerWaitsAsLongAsItIsToldTo) {
  f_.state.complete_handshake();
  EXPECT_TRUE(end_of_wait(f_, kPatience).is_never());
  EXPECT_TRUE(still_since(f_, session()).is_never());
  f_.heat(now_).owes_since = now_ + Duration::seconds(5);
  EXPECT_EQ(end_of_wait(f_, kPatience), f_.owes_since() + kPatience);
  f_.state.note_trimmed();
  EXPECT_EQ(deadline(), f_.owes_since() + kPatience);
  EXPECT_EQ(still_since(f_, session()), f_.owes_since());
}

TEST_F(FlowDeadlineTest, AClientWithoutAnAnswerHasGivenUpSooner) {
  f_.state = FlowState::kOpening;
  f_.heat(now_).owes_since = now_;
  EXPECT_EQ(end_of_wait(f_, kPatience), now_ + Duration::seconds(127));
  EXPECT_EQ(end_of_wait(f_, Duration::seconds(60)), now_ + Duration::seconds(60));
}

// The far gateway acknowledges the OPEN, but never says what became of the server.
TEST_F(FlowDeadlineTest, AnOpeningOfWhichAPeerThatIsHeardSaysNothingHasALimit) {
  tcp::Counters counters;
  Flow opening({ip_of("203.0.113.5"), ip_of("198.51.100.5"), 40'001, 80, {}},
               std::make_shared<ActiveRule>(), Origin::kLan, tcp::Config(), arena_,
               tcp::Endpoint::Shared{&counters, {}}, now_);
  wire::TcpHeader syn;
  syn.flags = wire::TcpFlags::kSyn;
  syn.options.mss = 1460;
  opening.endpoint.accept(syn, now_, tcp::Answer::kLater);
  EXPECT_TRUE(end_of_wait(opening, kPatience).is_never()) << "the peer has not been asked";
  opening.state.open_stream();
  EXPECT_EQ(end_of_wait(opening, kPatience), opening.beginning.created + Duration::seconds(200));
  opening.heat(now_).owes_since = now_;
  EXPECT_EQ(end_of_wait(opening, kPatience), now_ + Duration::seconds(127)) << "it is silent, too";
  opening.heat(now_).owes_since = Instant::never();
  opening.endpoint.answer(now_);
  ASSERT_TRUE(opening.endpoint.poll_segment(now_));
  EXPECT_TRUE(end_of_wait(opening, kPatience).is_never()) << "the handshake has timers of its own";
}

// `close: confirmed`: the near host has gone, and the far host never acknowledges the FIN.
TEST_F(FlowDeadlineTest, TimeWaitThatHoldsTheEndOfItsHostEndsWhenItIsIdle) {
  f_.endpoint.hold_fin();
  f_.endpoint.close();
  host_.listen(now_);
  end(f_.stream);
  f_.state.set_far_end(FlowState::FarEnd::kPassed);
  host_.close(now_);
  host_.listen(now_);
  ASSERT_EQ(f_.endpoint.state(), tcp::State::kTimeWait);
  ASSERT_TRUE(f_.endpoint.receiving().holds_fin());
  EXPECT_FALSE(ends_by_itself(f_));
  limits_.idle_timeout = Duration::seconds(10);
  EXPECT_EQ(deadline(), f_.timers.last_activity + limits_.idle_timeout);
}

TEST_F(FlowDeadlineTest, TimeWaitHasALimitOfItsOwn) {
  limits_.idle_timeout = Duration::seconds(1);
  f_.endpoint.close();
  host_.listen(now_);
  end(f_.stream);
  f_.state.set_far_end(FlowState::FarEnd::kPassed);
  host_.close(now_);
  host_.listen(now_);
  ASSERT_EQ(f_.endpoint.state(), tcp::State::kTimeWait);
  f_.state.set_host_end(FlowState::HostEnd::kDelivered);
  EXPECT_TRUE(owes_peer(f_, session())) << "else a silent peer would keep it for ever";
  ASSERT_LT(f_.timers.last_activity + quiet_limit(), f_.endpoint.next_timeout());
  EXPECT_EQ(deadline(), f_.endpoint.next_timeout());
  f_.timers.retry_at = now_;
  EXPECT_EQ(deadline(), f_.timers.retry_at) << "what is to be tried again is";
}

}  // namespace
}  // namespace satrelay::gateway::flow_deadline_test
