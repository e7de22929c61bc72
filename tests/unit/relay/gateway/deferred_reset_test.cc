// Hosts reset their connection right behind the bytes that they have sent. The bytes reach the
// other host first, as over a bridge.
#include "relay/gateway/flows/deferred_reset.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/flow_ends_fixture.h"
#include "tests/unit/relay/gateway/hub_fixture.h"

namespace satrelay::gateway::deferred_reset_test {
namespace {

using Flags = wire::TcpFlags;

constexpr std::uint8_t kRstAck = Flags::kRst | Flags::kAck;

class DeferredResetTest : public FlowEndsTest {
 protected:
  void open() {
    near_.send(*a_, now_, Flags::kSyn);
    run(5);
    near_.send(*a_, now_, kPushAck, "question");
    run(5);
    ASSERT_EQ(far_.received, "question");
  }
  std::uint64_t count_far(Counter counter) const { return b_->counters()[counter]; }
  void expect_forgotten() {
    run(20);
    EXPECT_EQ(a_->flow_count(), 0U);
    EXPECT_EQ(b_->flow_count(), 0U);
    EXPECT_FALSE(a_->audit());
    EXPECT_FALSE(b_->audit());
  }
};

TEST_F(DeferredResetTest, AServersComesBeforeItsReset) {
  open();
  far_.send(*b_, now_, kPushAck, "Exceeded MaxStartups");
  far_.send(*b_, now_, kRstAck);
  run(5);
  EXPECT_EQ(near_.received, "Exceeded MaxStartups");
  EXPECT_EQ(near_.resets, 1);
  EXPECT_EQ(near_.reset_sequence, near_.expected()) << "RFC 5961: another is answered, not obeyed";
  EXPECT_FALSE(near_.saw_end);
  EXPECT_EQ(count_far(Counter::kFlowsResetByHost), 1U);
  EXPECT_EQ(count_far(Counter::kResetsBehindData), 1U);
  EXPECT_EQ(count(Counter::kFlowsResetByPeer), 1U);
  expect_forgotten();
}

TEST_F(DeferredResetTest, SoDoesAClients) {
  open();
  for (int i = 0; i < 10; ++i) near_.send(*a_, now_, kPushAck, std::string(1'000, 'a'));
  near_.send(*a_, now_, kRstAck);
  run(5);
  EXPECT_EQ(far_.received.size(), 8U + 10'000U);
  EXPECT_EQ(far_.resets, 1);
  EXPECT_EQ(far_.reset_sequence, far_.expected());
  expect_forgotten();
}

TEST_F(DeferredResetTest, SoDoesOneOfAConnectionThatHasJustBegun) {
  near_.send(*a_, now_, Flags::kSyn);
  near_.listen(*a_, now_);
  near_.send(*a_, now_, kPushAck, "log line");
  near_.send(*a_, now_, kRstAck);
  run(5);
  EXPECT_EQ(far_.received, "log line");
  EXPECT_EQ(far_.resets, 1);
  expect_forgotten();
}

TEST_F(DeferredResetTest, ARepeatedSegmentIsBeforeTheResetToo) {
  open();
  far_.send(*b_, now_, kPushAck, "word");
  far_.send(*b_, now_, kRstAck);
  near_.silent = true;
  run(3);
  EXPECT_EQ(near_.resets, 0);
  near_.silent = false;
  run(10);
  EXPECT_EQ(near_.received, "word");
  EXPECT_EQ(near_.resets, 1);
  expect_forgotten();
}

TEST_F(DeferredResetTest, AResetWithoutAWordIsToldAtOnce) {
  near_.send(*a_, now_, Flags::kSyn);
  run(5);
  far_.send(*b_, now_, kRstAck);
  run(2);
  EXPECT_EQ(near_.resets, 1);
  EXPECT_EQ(count_far(Counter::kResetsBehindData), 0U);
  expect_forgotten();
}

// The far host gets both the FIN and the RST.
TEST_F(DeferredResetTest, AResetBehindAnEndComesBehindIt) {
  open();
  near_.send(*a_, now_, kPushAck, "word");
  near_.send(*a_, now_, kFinAck);
  near_.send(*a_, now_, kRstAck);
  far_.silent = true;
  run(4);
  far_.silent = false;
  run(10);
  EXPECT_EQ(far_.received, "questionword");
  EXPECT_TRUE(far_.saw_end);
  EXPECT_EQ(far_.resets, 1);
  EXPECT_EQ(far_.reset_sequence, far_.expected());
  expect_forgotten();
}

TEST_F(DeferredResetTest, WhatIsOnItsWayToTheHostThatResetIsDropped) {
  open();
  far_.silent = true;  // so that the deferred reset is not over
  near_.send(*a_, now_, kPushAck, "word");
  near_.send(*a_, now_, kRstAck);
  for (int i = 0; i < 200; ++i) {
    far_.send(*b_, now_, kPushAck, std::string(1'400, 'b'));
    if (i % 20 == 0) run(1);  // the gateway announces its window again
  }
  run(3);
  EXPECT_EQ(near_.received.size(), 0U);
  for (const auto* gateway : {a_.get(), b_.get()}) {
    const std::vector<FlowSnapshot> flows = gateway->flows(0, 1, now_);
    ASSERT_LE(flows.size(), 1U);
    for (const FlowSnapshot& flow : flows) {
      EXPECT_EQ(flow.stp_stored + flow.lan_stored + flow.stp_unacknowledged, 0U);
    }
  }
  far_.silent = false;
  run(30);  // until the gateway retransmits it
  EXPECT_EQ(far_.received, "questionword");
  expect_forgotten();
}

TEST_F(DeferredResetTest, BothHostsMayReset) {
  open();
  near_.send(*a_, now_, kPushAck, "near");
  near_.send(*a_, now_, kRstAck);
  far_.send(*b_, now_, kPushAck, "far");
  far_.send(*b_, now_, kRstAck);
  expect_forgotten();
  EXPECT_EQ(near_.resets + far_.resets, 0) << "neither knows the connection any more";
  EXPECT_EQ(count(Counter::kResetsOverdue) + count_far(Counter::kResetsOverdue), 0U);
}

// The host acknowledges nothing.
TEST_F(DeferredResetTest, AResetWaitsThirtySecondsForProgress) {
  open();
  near_.send(*a_, now_, kPushAck, "word");
  near_.send(*a_, now_, kRstAck);
  far_.silent = true;
  run(290);
  EXPECT_EQ(b_->flow_count(), 1U);
  run(20);
  EXPECT_EQ(b_->flow_count(), 0U);
  EXPECT_EQ(count_far(Counter::kResetsOverdue), 1U);
  EXPECT_EQ(a_->flow_count(), 0U);
}

// The link carries nothing. The gateways do not give each other up for 120 s.
TEST_F(DeferredResetTest, ItWaitsThirtySecondsForTheLink) {
  open();
  near_.send(*a_, now_, kPushAck, "word");
  near_.send(*a_, now_, kRstAck);
  FrameBytes lost(a_->max_frame_size());
  for (int i = 0; i < 290; ++i) {
    now_ += Duration::milliseconds(100);
    if (a_->next_timeout() <= now_) a_->handle_timeout(now_);
    while (a_->poll_frame(PortId::kWan, lost, now_).size > 0) continue;
  }
  EXPECT_EQ(count(Counter::kResetsOverdue), 0U);
  for (int i = 0; i < 25; ++i) {
    now_ += Duration::milliseconds(100);
    if (a_->next_timeout() <= now_) a_->handle_timeout(now_);
    while (a_->poll_frame(PortId::kWan, lost, now_).size > 0) continue;
    near_.listen(*a_, now_);
  }
  EXPECT_EQ(count(Counter::kResetsOverdue), 1U);
  EXPECT_EQ(a_->flow_count(), 0U);
}

TEST_F(DeferredResetTest, ANewSynOfTheFourTupleDoesNotWait) {
  open();
  near_.send(*a_, now_, kPushAck, "word");
  near_.send(*a_, now_, kRstAck);
  ASSERT_EQ(a_->flow_count(), 1U);
  near_.send(*a_, now_, Flags::kSyn);
  EXPECT_EQ(a_->flow_count(), 1U);
  EXPECT_EQ(count(Counter::kFlowsAccepted), 2U);
  EXPECT_EQ(count(Counter::kResetsCutShort), 1U);
  far_ = MiniHost{{kServer, 80}, {kClient, 40000}, 700'000};
  run(10);
  EXPECT_EQ(far_.resets, 1) << "of the old one";
  EXPECT_EQ(far_.syns, 1);
  near_.send(*a_, now_, kPushAck, "again");
  run(5);
  EXPECT_EQ(far_.received, "again");
}

// Only its sequence number proves that a RST is the host's.
TEST_F(DeferredResetTest, AForgedResetStartsNothing) {
  open();
  far_.send(*b_, now_, kPushAck, "word");
  wire::TcpHeader forged = wire::parse_tcp(look_at(far_.frame(kRstAck)).payload)->header;
  forged.sequence += 100;
  b_->handle_frame(PortId::kLan, tcp_frame(kServer, kClient, forged, host_to_server()), now_);
  run(5);
  EXPECT_EQ(near_.received, "word");
  EXPECT_EQ(near_.resets, 0);
  EXPECT_EQ(count_far(Counter::kFlowsResetByHost), 0U);
  EXPECT_EQ(b_->flow_count(), 1U);
}

// A peer of a build without reset marks. It drops the bytes that it holds when a RESET arrives.
class LastWordToAnOlderPeer : public HubTest {
 protected:
  void open() {
    ASSERT_EQ(lan(tcp_frame(kHost, kFar, syn(1000))), Verdict::kConsumed);
    step();
    std::optional<wire::TcpHeader> answer;
    for (const FrameBytes& bytes : on_lan_) {
      const Frame frame = look_at(bytes);
      const auto tcp = wire::parse_tcp(frame.payload);
      if (frame.kind == FrameKind::kTcp && tcp) answer = tcp->header;
    }
    ASSERT_TRUE(answer);
    acknowledgment_ = answer->sequence + 1;
    say(Flags::kAck, "");
    for (int i = 0; i < 3; ++i) step();
    ASSERT_EQ(streams_[1].size(), 1U);
    ASSERT_FALSE(session().agreed().reset_marks());
  }
  void say(std::uint8_t flags, std::string_view payload) {
    wire::TcpHeader tcp = syn(sequence_);
    tcp.acknowledgment = acknowledgment_;
    tcp.flags = flags;
    tcp.options = {};
    lan(tcp_frame(kHost, kFar, tcp, host_to_server(), payload));
    sequence_ += static_cast<std::uint32_t>(payload.size());
  }
  stp::Session& session() { return terminals_[1].session(); }
  std::uint64_t heard() {
    const Reassembler* const stored = session().streams().received(streams_[1][0]);
    return stored == nullptr ? 0 : stored->readable();
  }

  static constexpr auto kHost = "203.0.113.5";
  static constexpr auto kFar = "10.2.0.5";
  std::uint32_t sequence_ = 1001;
  std::uint32_t acknowledgment_ = 0;
};

TEST_F(LastWordToAnOlderPeer, ResetComesOnceItHasTheBytes) {
  open();
  say(Flags::kAck, "word");
  say(kRstAck, "");
  deaf_[1] = true;
  step();
  EXPECT_EQ(hub_->flow_count(), 1U);
  EXPECT_TRUE(reasons_[1].empty());
  deaf_[1] = false;
  std::uint64_t most = 0;
  for (int i = 0; i < 20 && reasons_[1].empty(); ++i) {
    step();
    most = std::max(most, heard());
  }
  EXPECT_EQ(most, compress::kBlockHeaderSize + 4) << "and no block of a kind that it does not know";
  EXPECT_EQ(reasons_[1], std::vector{stp::ResetReason::kHostReset});
  EXPECT_EQ(hub_->flow_count(), 0U);
}

TEST_F(LastWordToAnOlderPeer, ResetComesAtOnceIfItHasThem) {
  open();
  say(Flags::kAck, "word");
  for (int i = 0; i < 5; ++i) step();
  say(kRstAck, "");
  step();
  EXPECT_EQ(reasons_[1], std::vector{stp::ResetReason::kHostReset});
  EXPECT_EQ(count(Counter::kResetsBehindData), 0U);
}

}  // namespace
}  // namespace satrelay::gateway::deferred_reset_test
