// How connections begin and end: both hosts at once, and segments after the end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/relay/gateway/flow_ends_fixture.h"

namespace satrelay::gateway::flow_ends_test {
namespace {

using Flags = wire::TcpFlags;

TEST_F(FlowEndsTest, AStrayAckAfterTheEndIsAnsweredWithRst) {
  relay_one_to_its_end();
  const FrameBytes stray = near_.frame(Flags::kAck);
  const auto tcp = wire::parse_tcp(look_at(stray).payload);
  EXPECT_EQ(lan(stray), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedAfterEnd), 1U);
  near_.listen(*a_, now_);
  EXPECT_EQ(near_.resets, 1);
  EXPECT_EQ(near_.reset_sequence, tcp->header.acknowledgment);
  // A new connection with the same ports is bridged. The gateway leaves it alone once its host has
  // accepted it.
  const FrameBytes request = far_.frame(Flags::kSyn);
  EXPECT_EQ(wan(request), Verdict::kBridge);
  EXPECT_EQ(lan(stray), Verdict::kDrop) << "anybody may have sent that SYN";
  wire::TcpHeader answer = tcp->header;
  answer.flags = Flags::kSyn | Flags::kAck;
  answer.acknowledgment = wire::parse_tcp(look_at(request).payload)->header.sequence + 1;
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, answer)), Verdict::kBridge);
  EXPECT_EQ(lan(stray), Verdict::kBridge);
}

// The far host ends last, so its gateway waits for segments that it may repeat.
class EndedFlow : public FlowEndsTest {
 protected:
  void SetUp() override {
    FlowEndsTest::SetUp();
    relay_one_to_its_end();
  }
  wire::TcpHeader last_fin() {
    wire::TcpHeader fin = wire::parse_tcp(look_at(far_.frame(Flags::kAck)).payload)->header;
    --fin.sequence;
    fin.flags = kFinAck;
    return fin;
  }
  Verdict say(const wire::TcpHeader& header) {
    return b_->handle_frame(PortId::kLan, tcp_frame(kServer, kClient, header, host_to_server()),
                            now_);
  }
  std::optional<wire::TcpHeader> hear() {
    FrameBytes out(b_->max_frame_size());
    const std::size_t size = b_->poll_frame(PortId::kLan, out, now_).size;
    if (size == 0) return std::nullopt;
    return wire::parse_tcp(look_at(ConstBytes(out).first(size)).payload)->header;
  }
};

TEST_F(EndedFlow, TakesNoPlaceButItsLateSegmentsAreAnswered) {
  EXPECT_EQ(b_->flow_count(), 0U);
  EXPECT_EQ(b_->status(now_).time_wait, 1U);
  EXPECT_EQ(a_->status(now_).time_wait, 0U) << "out of LAST-ACK";
  const wire::TcpHeader fin = last_fin();
  EXPECT_EQ(say(fin), Verdict::kConsumed);
  const auto answer = hear();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->flags, Flags::kAck);
  EXPECT_EQ(answer->acknowledgment, fin.sequence + 1);
  EXPECT_EQ(answer->sequence, fin.acknowledgment);
  // Meanwhile a segment that the client repeats is not bridged to the far host.
  wire::TcpHeader stray = fin;
  std::swap(stray.source_port, stray.destination_port);
  EXPECT_EQ(
      b_->handle_frame(PortId::kWan, tcp_frame(kClient, kServer, stray, host_to_server()), now_),
      Verdict::kDrop);
  EXPECT_EQ(b_->counters()[Counter::kDroppedRelayedFromWan], 1U);
}

TEST_F(EndedFlow, IsForgottenWhenItsTimeIsOver) {
  run(700);
  EXPECT_EQ(b_->status(now_).time_wait, 0U);
  EXPECT_EQ(say(last_fin()), Verdict::kDrop);
  EXPECT_EQ(b_->counters()[Counter::kDroppedAfterEnd], 1U);
}

TEST_F(EndedFlow, AnExactResetEndsItsWait) {
  wire::TcpHeader reset = last_fin();
  reset.sequence += 2;
  reset.flags = Flags::kRst;
  EXPECT_EQ(say(reset), Verdict::kConsumed);
  EXPECT_EQ(b_->status(now_).time_wait, 1U);
  --reset.sequence;
  EXPECT_EQ(say(reset), Verdict::kConsumed);
  EXPECT_EQ(b_->status(now_).time_wait, 0U);
}

TEST_F(EndedFlow, MakesWayForANewOne) {
  wire::TcpHeader syn = last_fin();
  syn.flags = Flags::kSyn;
  EXPECT_EQ(say(syn), Verdict::kConsumed) << "an old one is challenged";
  EXPECT_EQ(b_->status(now_).time_wait, 1U);
  syn.sequence += 100;
  EXPECT_EQ(say(syn), Verdict::kConsumed);
  EXPECT_EQ(b_->status(now_).time_wait, 0U);
  EXPECT_EQ(b_->flow_count(), 1U);
}

// A SYN with FIN or RST does not begin a new connection. The old one stays in TIME-WAIT, and its
// repeated FIN is answered.
TEST_F(EndedFlow, MakesNoWayForASynThatIsNone) {
  const wire::TcpHeader fin = last_fin();
  for (const int more : {+Flags::kFin, +Flags::kRst, Flags::kFin | Flags::kRst}) {
    wire::TcpHeader syn = fin;
    syn.flags = static_cast<std::uint8_t>(Flags::kSyn | more);
    syn.sequence += 100'000;
    EXPECT_EQ(say(syn), Verdict::kConsumed) << more;
    EXPECT_EQ(b_->status(now_).time_wait, 1U) << more;
  }
  EXPECT_EQ(b_->flow_count(), 0U);
  while (hear()) {
  }
  EXPECT_EQ(say(fin), Verdict::kConsumed);
  EXPECT_TRUE(hear()) << "and its FIN is still answered";
}

// The client's gateway has no TIME-WAIT, but it remembers the connection.
TEST_F(EndedFlow, ASynThatIsNoneIsNotBridgedByTheOtherSideEither) {
  const FrameBytes frame = near_.frame(Flags::kSyn | Flags::kFin);
  EXPECT_EQ(a_->handle_frame(PortId::kLan, frame, now_), Verdict::kDrop);
  EXPECT_EQ(a_->counters()[Counter::kDroppedAfterEnd], 1U);
}

TEST_F(EndedFlow, MakesWayForOneThatItsPeerOpens) {
  near_ = MiniHost({kClient, 40000}, {kServer, 80}, 900'000);
  far_ = MiniHost({kServer, 80}, {kClient, 40000}, 700'000);
  near_.send(*a_, now_, Flags::kSyn);
  run(10);
  EXPECT_EQ(far_.syns, 1);
  EXPECT_EQ(b_->status(now_).time_wait, 0U);
  EXPECT_EQ(b_->flow_count(), 1U);
  far_.send(*b_, now_, kPushAck, "hello");
  run(10);
  EXPECT_EQ(near_.received, "hello");
}

class ManyEnded : public FlowEndsTest {
 protected:
  static constexpr int kMany = 12;
  void SetUp() override {
    FlowEndsTest::SetUp();
    for (int i = 0; i < kMany; ++i) {
      const auto port = static_cast<std::uint16_t>(41'000 + i);
      near_ = MiniHost({kClient, port}, {kServer, 80}, 1000);
      far_ = MiniHost({kServer, 80}, {kClient, port}, 500'000);
      near_.send(*a_, now_, Flags::kSyn);
      run(7);
      near_.send(*a_, now_, kFinAck);
      run(7);
      far_.send(*b_, now_, kFinAck);
      run(7);
      ASSERT_TRUE(near_.saw_end);
      fins_.push_back(wire::parse_tcp(look_at(far_.frame(Flags::kAck)).payload)->header);
    }
    ASSERT_EQ(b_->status(now_).time_wait, static_cast<std::uint32_t>(kMany));
  }
  std::vector<wire::TcpHeader> fins_;
};

// The host of each connection sends a SYN that TIME-WAIT does not admit. By the challenge ACK of
// RFC 5961 the host can end the old connection with RST.
TEST_F(ManyEnded, EachIsChallenged) {
  int answers = 0;
  for (wire::TcpHeader syn : fins_) {
    syn.sequence -= 1000;
    syn.flags = Flags::kSyn;
    syn.acknowledgment = 0;
    EXPECT_EQ(
        b_->handle_frame(PortId::kLan, tcp_frame(kServer, kClient, syn, host_to_server()), now_),
        Verdict::kConsumed);
    FrameBytes out(b_->max_frame_size());
    answers += b_->poll_frame(PortId::kLan, out, now_).size > 0 ? 1 : 0;
  }
  EXPECT_EQ(answers, kMany);
}

TEST_F(ManyEnded, WhatFindsNoRoomAmongTheAnswersIsCounted) {
  for (wire::TcpHeader fin : fins_) {
    --fin.sequence;
    fin.flags = kFinAck;
    const FrameBytes frame = tcp_frame(kServer, kClient, fin, host_to_server());
    for (int i = 0; i < 30; ++i) b_->handle_frame(PortId::kLan, frame, now_);
  }
  EXPECT_EQ(b_->counters()[Counter::kDroppedLateAnswers], kMany * 30U - 256U);
}

TEST_F(FlowEndsTest, ANewConnectionOfTheHostThatIsBridgedIsLeftAlone) {
  relay_one_to_its_end();
  a_->set_admission(Admission::kBypass, now_);
  EXPECT_EQ(lan(near_.frame(Flags::kSyn)), Verdict::kBridge);
  EXPECT_EQ(lan(near_.frame(Flags::kAck)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kDroppedAfterEnd), 0U);
}

TEST_F(FlowEndsTest, WhatWasNeverRelayedIsBridgedInMidStream) {
  EXPECT_EQ(lan(near_.frame(Flags::kAck)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedMidStream), 1U);
}

// The RST of the old connection and the SYN of the new one arrive together.
TEST_F(FlowEndsTest, TheHostOfAFlowThatMakesRoomIsReset) {
  near_.send(*a_, now_, Flags::kSyn);
  run(10);
  ASSERT_EQ(far_.syns, 1);
  near_.send(*a_, now_, Flags::kRst | Flags::kAck);
  near_ = MiniHost({kClient, 40000}, {kServer, 80}, 900'000);
  near_.send(*a_, now_, Flags::kSyn);
  near_.listen(*a_, now_);
  run(10);
  EXPECT_EQ(far_.resets, 1);
  EXPECT_EQ(far_.syns, 2);
  far_.send(*b_, now_, kPushAck, "hello");
  run(10);
  EXPECT_EQ(near_.received, "hello");
}

class SimultaneousOpen : public FlowEndsTest {
 protected:
  void finish() {
    run(20);
    EXPECT_EQ(far_.received, "from the client side");
    EXPECT_EQ(near_.received, "from the server side");
    EXPECT_EQ(a_->flow_count(), 1U);
    EXPECT_EQ(b_->flow_count(), 1U);
    near_.send(*a_, now_, kPushAck, ", more");
    far_.send(*b_, now_, kPushAck, ", too");
    near_.send(*a_, now_, kFinAck);
    run(20);
    EXPECT_EQ(far_.received, "from the client side, more");
    EXPECT_TRUE(far_.saw_end);
    EXPECT_FALSE(near_.saw_end);
    far_.send(*b_, now_, kPushAck, ", and after");
    far_.send(*b_, now_, kFinAck);
    run(20);
    EXPECT_EQ(near_.received, "from the server side, too, and after");
    EXPECT_TRUE(near_.saw_end);
    EXPECT_EQ(near_.resets + far_.resets, 0);
    run(700);  // TIME-WAIT, and streams that linger
    EXPECT_EQ(a_->flow_count(), 0U);
    EXPECT_EQ(b_->flow_count(), 0U);
    EXPECT_EQ(a_->peers()[0].streams + b_->peers()[0].streams, 0U);
    EXPECT_EQ(a_->status(now_).arena_used + b_->status(now_).arena_used, 0U);
  }
  std::uint64_t met() const {
    return count(Counter::kFlowsOpenedByBoth) + b_->counters()[Counter::kFlowsOpenedByBoth];
  }
};

TEST_F(SimultaneousOpen, BothHostsSpeakAtOnce) {
  near_.send(*a_, now_, Flags::kSyn);
  far_.send(*b_, now_, Flags::kSyn);
  listen();
  near_.send(*a_, now_, kPushAck, "from the client side");
  far_.send(*b_, now_, kPushAck, "from the server side");
  finish();
  EXPECT_EQ(met(), 2U);
}

TEST_F(SimultaneousOpen, OneHandshakeIsStillUnderWay) {
  far_.send(*b_, now_, Flags::kSyn);
  far_.silent = true;
  near_.send(*a_, now_, Flags::kSyn);
  listen();
  near_.send(*a_, now_, kPushAck, "from the client side");
  run(5);
  far_.silent = false;
  run(20);
  far_.send(*b_, now_, kPushAck, "from the server side");
  finish();
  EXPECT_EQ(met(), 1U);
}

TEST_F(SimultaneousOpen, AResetEndsBoth) {
  near_.send(*a_, now_, Flags::kSyn);
  far_.send(*b_, now_, Flags::kSyn);
  run(10);
  near_.send(*a_, now_, Flags::kRst | Flags::kAck);
  run(100);
  EXPECT_EQ(far_.resets, 1);
  EXPECT_EQ(a_->flow_count() + b_->flow_count(), 0U);
  EXPECT_EQ(a_->peers()[0].streams + b_->peers()[0].streams, 0U);
}

class FlowLabels : public FlowEndsTest {
 protected:
  static constexpr auto kClient6 = "2001:db8:1::5";
  static constexpr auto kServer6 = "2001:db8:2::5";
  void SetUp() override {
    config_a_.peers[0].prefixes.push_back(*IpPrefix::parse("2001:db8:2::/48"));
    config_b_.peers[0].prefixes.push_back(*IpPrefix::parse("2001:db8:1::/48"));
    a_ = std::make_unique<Gateway>(
        config_a_, Identity{.boot_epoch = 1, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
        now_);
    start_peer();
    near_ = MiniHost({kClient6, 40000}, {kServer6, 80}, 1000);
    far_ = MiniHost({kServer6, 80}, {kClient6, 40000}, 1000);
  }
};

TEST_F(FlowLabels, AllPacketsOfAFlowHaveTheSame) {  // RFC 6437
  near_.send(*a_, now_, Flags::kSyn);
  run(10);
  far_.send(*b_, now_, kPushAck, "hello");
  run(10);
  far_.send(*b_, now_, kFinAck);
  run(10);
  ASSERT_GE(near_.flow_labels.size(), 3U);
  for (const std::uint32_t label : near_.flow_labels) EXPECT_EQ(label, near_.flow_labels[0]);
  EXPECT_NE(near_.flow_labels[0], 0U);
  EXPECT_NE(near_.flow_labels[0], far_.flow_labels.at(0)) << "the other direction is another flow";
}

TEST_F(FlowLabels, AResetBehindTheEndHasItToo) {
  relay_one_to_its_end();
  EXPECT_EQ(lan(near_.frame(Flags::kAck)), Verdict::kDrop);
  near_.listen(*a_, now_);
  ASSERT_EQ(near_.resets, 1);
  EXPECT_EQ(near_.flow_labels.back(), near_.flow_labels.front());
}

}  // namespace
}  // namespace satrelay::gateway::flow_ends_test
