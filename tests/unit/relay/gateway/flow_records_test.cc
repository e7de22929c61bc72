// A connection that has ended leaves a record at each gateway, and its time among the completions.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "relay/gateway/flows/completion.h"
#include "relay/gateway/flows/flow_record.h"
#include "relay/gateway/flows/hosts/awaited_reports.h"
#include "relay/gateway/peers/lan_reports.h"
#include "tests/unit/relay/gateway/flow_ends_fixture.h"
#include "tests/unit/relay/gateway/hub_fixture.h"

namespace satrelay::gateway::flow_records_test {
namespace {

using Flags = wire::TcpFlags;

class Notebook final : public FlowRecorder {
 public:
  void handle_end(const FlowRecord& record) override { records.push_back(record); }
  std::vector<FlowRecord> records;
};

class RecordedFlow : public FlowEndsTest {
 protected:
  void SetUp() override {
    FlowEndsTest::SetUp();
    a_->record_flows(&at_client_);
    b_->record_flows(&at_server_);
  }
  void open() {
    near_.send(*a_, now_, Flags::kSyn);
    run(10);
    ASSERT_EQ(far_.syns, 1);
  }
  void end() {
    near_.send(*a_, now_, kFinAck);
    run(10);
    far_.send(*b_, now_, kFinAck);
    run(20);
    ASSERT_EQ(at_client_.records.size(), 1U);
    ASSERT_EQ(at_server_.records.size(), 1U);
  }
  // The completion times of flows of that size.
  Histogram completions(std::string_view size) const {
    for (const HistogramSnapshot& each : a_->histograms()) {
      if (each.field == &kFlowCompletion && each.of == size) return each.values;
    }
    ADD_FAILURE() << size;
    return Histogram(kCompletionBounds);
  }
  Notebook at_client_, at_server_;
};

TEST_F(RecordedFlow, LeavesOneAtEachGateway) {
  const Instant began = now_;
  open();
  near_.send(*a_, now_, kPushAck, "question");
  run(5);
  const Instant answered = now_;
  far_.send(*b_, now_, kPushAck, "a longer answer");
  run(10);
  EXPECT_TRUE(at_client_.records.empty()) << "it goes on";
  end();
  const FlowRecord& a = at_client_.records[0];
  EXPECT_EQ(a.client, ip_of(kClient));
  EXPECT_EQ(a.server, ip_of(kServer));
  EXPECT_EQ(a.client_port, 40000);
  EXPECT_EQ(a.server_port, 80);
  EXPECT_EQ(a.origin, Origin::kLan);
  EXPECT_EQ(a.end, Counter::kFlowsFinished);
  EXPECT_TRUE(a.established);
  EXPECT_EQ(a.peer, FarGatewayId());
  EXPECT_EQ(a.rule, 2U);
  EXPECT_EQ(a.traffic_class.view(), "");
  EXPECT_EQ(a.began, began);
  EXPECT_EQ(a.bytes_from_lan, 8U);
  EXPECT_EQ(a.bytes_to_lan, 15U);
  EXPECT_GT(a.encoded_to_peer, a.bytes_from_lan) << "so short, they have headers and no more";
  EXPECT_GT(a.encoded_from_peer, a.bytes_to_lan);
  ASSERT_TRUE(a.first_byte);
  EXPECT_GE(began + *a.first_byte, answered);
  EXPECT_LE(began + *a.first_byte, answered + Duration::milliseconds(200));
  EXPECT_GT(a.ended, answered);
  EXPECT_EQ(a.lan.retransmitted + a.lan.repeated, 0U);

  const FlowRecord& b = at_server_.records[0];
  EXPECT_EQ(b.origin, Origin::kPeer);
  EXPECT_EQ(b.client, a.client);
  EXPECT_EQ(b.server_port, a.server_port);
  EXPECT_EQ(b.bytes_from_lan, a.bytes_to_lan);
  EXPECT_EQ(b.bytes_to_lan, a.bytes_from_lan);
  EXPECT_EQ(b.encoded_to_peer, a.encoded_from_peer);
  EXPECT_EQ(b.encoded_from_peer, a.encoded_to_peer);
  ASSERT_TRUE(b.first_byte);
  EXPECT_EQ(b.began + *b.first_byte, answered) << "of the server, at its own gateway";
}

TEST_F(RecordedFlow, NamesItsRuleAndItsClassByValue) {
  config::Gateway named = config_a_;
  named.classes = {{.name = "bulk"}};
  named.rules.back().name = "everything";
  named.rules.back().traffic_class = "bulk";
  a_->reconfigure(named, now_);
  open();
  a_->reconfigure(config_a_, now_);  // the class is gone
  end();
  EXPECT_EQ(at_client_.records[0].rule_name.view(), "everything");
  EXPECT_EQ(at_client_.records[0].traffic_class.view(), "");
}

TEST_F(RecordedFlow, SaysWhichClassItHad) {
  config_a_.classes = {{.name = "bulk"}};
  config_a_.rules.back().traffic_class = "bulk";
  a_->reconfigure(config_a_, now_);
  open();
  end();
  EXPECT_EQ(at_client_.records[0].traffic_class.view(), "bulk");
}

TEST_F(RecordedFlow, CountsWhatWasSentTwiceOnItsLan) {
  open();
  const FrameBytes question = near_.frame(kPushAck, "question");
  lan(question);
  lan(question);
  far_.silent = true;
  run(15);
  far_.silent = false;
  run(40);
  ASSERT_EQ(far_.received, "question");
  end();
  EXPECT_EQ(at_client_.records[0].lan.repeated, 1U);
  EXPECT_EQ(at_client_.records[0].lan.retransmitted, 0U);
  EXPECT_EQ(at_server_.records[0].lan.repeated, 0U);
  EXPECT_GE(at_server_.records[0].lan.retransmitted, 1U);
}

TEST_F(RecordedFlow, KnowsBothLans) {
  open();
  const FrameBytes question = near_.frame(kPushAck, "question");
  lan(question);
  lan(question);
  far_.silent = true;
  run(15);
  far_.silent = false;
  run(40);
  end();
  const FlowRecord& a = at_client_.records[0];
  const FlowRecord& b = at_server_.records[0];
  EXPECT_EQ(a.far, b.lan);
  EXPECT_EQ(b.far, a.lan);
  EXPECT_GE(b.lan.retransmitted, 1U);
  EXPECT_EQ(b.far->repeated, 1U);
}

// The stream is over, and the far gateway has sent its figures, before the host has taken the end.
TEST_F(RecordedFlow, KnowsTheFarLanThoughItsOwnHostIsSlow) {
  open();
  near_.send(*a_, now_, kFinAck);
  run(10);
  near_.silent = true;
  far_.send(*b_, now_, kFinAck);
  run(30);
  ASSERT_EQ(at_server_.records.size(), 0U) << "it waits for the other";
  ASSERT_EQ(at_client_.records.size(), 0U);
  near_.silent = false;
  run(40);
  ASSERT_EQ(at_client_.records.size(), 1U);
  ASSERT_EQ(at_server_.records.size(), 1U);
  const FlowRecord& a = at_client_.records[0];
  EXPECT_GE(a.lan.retransmitted, 1U);
  EXPECT_EQ(at_server_.records[0].far, a.lan);
  EXPECT_EQ(a.far, LanFigures{});
}

TEST_F(RecordedFlow, KnowsTheFarLanOfOneThatWasReset) {
  open();
  const FrameBytes question = near_.frame(kPushAck, "question");
  lan(question);
  lan(question);
  run(5);
  near_.send(*a_, now_, Flags::kRst | Flags::kAck);
  run(10);
  ASSERT_EQ(at_client_.records.size(), 1U);
  ASSERT_EQ(at_server_.records.size(), 1U);
  EXPECT_EQ(at_client_.records[0].far, LanFigures{});
  EXPECT_EQ(at_server_.records[0].far, (LanFigures{.retransmitted = 0, .repeated = 1}));
}

TEST_F(RecordedFlow, DoesNotWaitForALostPeerForEver) {
  open();
  near_.send(*a_, now_, Flags::kRst | Flags::kAck);
  const auto pass = [&](Duration time) {  // without a packet of the peer
    for (const Instant until = now_ + time; now_ < until;) {
      now_ += Duration::milliseconds(100);
      a_->handle_timeout(now_);
      near_.listen(*a_, now_);
      FrameBytes lost(a_->max_frame_size());
      while (a_->poll_frame(PortId::kWan, lost, now_).size > 0) {
      }
    }
  };
  pass(AwaitedReports::kPatience - Duration::seconds(1));
  EXPECT_TRUE(at_client_.records.empty());
  pass(Duration::seconds(2));
  ASSERT_EQ(at_client_.records.size(), 1U);
  EXPECT_FALSE(at_client_.records[0].far) << "not known is not zero";
}

TEST_F(RecordedFlow, WhatWaitsForThePeerIsRecordedWhenTheGatewayStops) {
  open();
  near_.send(*a_, now_, Flags::kRst | Flags::kAck);
  near_.listen(*a_, now_);
  EXPECT_TRUE(at_client_.records.empty());
  a_->shut_down(now_);
  ASSERT_EQ(at_client_.records.size(), 1U);
  EXPECT_EQ(at_client_.records[0].end, Counter::kFlowsResetByHost);
}

// The record of an old session gets no figures of a stream with the same id in the new session.
TEST_F(RecordedFlow, APeerThatWasStartedAnewKnowsNothingOfIt) {
  open();
  near_.silent = far_.silent = true;
  b_ = std::make_unique<Gateway>(
      config_b_, Identity{.boot_epoch = 2, .secret = {3, 4}, .wan_mac = kPeerMac}, memory_b_, now_);
  run(60);
  ASSERT_EQ(at_client_.records.size(), 1U);
  EXPECT_EQ(at_client_.records[0].end, Counter::kFlowsResetPeerRestart);
  EXPECT_FALSE(at_client_.records[0].far);
}

TEST_F(RecordedFlow, ANewPeerIsAskedToo) {
  b_ = std::make_unique<Gateway>(
      config_b_, Identity{.boot_epoch = 2, .secret = {3, 4}, .wan_mac = kPeerMac}, memory_b_, now_);
  b_->record_flows(&at_server_);
  run(60);
  open();
  end();
  EXPECT_EQ(at_client_.records[0].far, LanFigures{});
  EXPECT_EQ(at_server_.records[0].far, LanFigures{});
}

TEST_F(RecordedFlow, ThePeerTellsThoughItRecordsNothing) {
  b_->record_flows(nullptr);
  open();
  near_.send(*a_, now_, kFinAck);
  run(10);
  far_.send(*b_, now_, kFinAck);
  run(20);
  ASSERT_EQ(at_client_.records.size(), 1U);
  EXPECT_EQ(at_client_.records[0].far, LanFigures{});
}

TEST_F(RecordedFlow, SaysWhoHasResetIt) {
  open();
  near_.send(*a_, now_, Flags::kRst | Flags::kAck);
  run(10);
  ASSERT_EQ(at_client_.records.size(), 1U);
  ASSERT_EQ(at_server_.records.size(), 1U);
  EXPECT_EQ(at_client_.records[0].end, Counter::kFlowsResetByHost);
  EXPECT_EQ(at_server_.records[0].end, Counter::kFlowsResetByPeer);
  EXPECT_FALSE(at_client_.records[0].first_byte);
  EXPECT_EQ(completions("10kB").count(), 0U) << "a reset flow has not been completed";
}

TEST_F(RecordedFlow, IsRecordedWhenTheGatewayStops) {
  open();
  a_->shut_down(now_);
  listen();
  ASSERT_EQ(at_client_.records.size(), 1U);
  EXPECT_EQ(at_client_.records[0].end, Counter::kFlowsResetShutdown);
}

TEST_F(RecordedFlow, ItsTimeIsCountedByItsSize) {
  open();
  near_.send(*a_, now_, kPushAck, std::string(1400, 'x'));
  run(10);
  end();
  EXPECT_EQ(completions("10kB").count(), 1U);
  const Histogram small = completions("10kB");
  const FlowRecord& record = at_client_.records[0];
  EXPECT_EQ(small.sum(),
            static_cast<std::uint64_t>((record.ended - record.began).to_microseconds()));
}

TEST_F(RecordedFlow, NobodyNeedsToBeTold) {
  a_->record_flows(nullptr);
  open();
  near_.send(*a_, now_, Flags::kRst | Flags::kAck);
  run(10);
  EXPECT_TRUE(at_client_.records.empty());
}

using RecordOfAHub = HubTest;

TEST_F(RecordOfAHub, HasNothingThatThePeerSaidWhileNobodyRecorded) {
  Notebook notebook;
  hub_->record_flows(&notebook);
  step();
  open(0, open_of("10.1.0.5", "10.9.0.1"));
  ASSERT_EQ(hub_->flow_count(), 1U);
  const stp::StreamId flow = *terminals_[0].last();
  hub_->record_flows(nullptr);
  constexpr std::array kReports{std::byte{LanReports::kReportsMessage}};
  terminals_[0].open(kReports, now_);
  const std::array report{static_cast<std::byte>(flow), std::byte{1}, std::byte{2}};
  terminals_[0].write(*terminals_[0].last(), report, now_);
  step();
  step();
  hub_->record_flows(&notebook);
  terminals_[0].end(flow, true, stp::ResetReason::kHostReset, now_);
  step();
  step();
  hub_->shut_down(now_);
  ASSERT_EQ(notebook.records.size(), 1U);
  EXPECT_FALSE(notebook.records[0].far);
}

}  // namespace
}  // namespace satrelay::gateway::flow_records_test
