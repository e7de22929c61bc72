// How connections begin and end at their edges: both hosts at once, and what is said after the end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "relay/gateway/flows/completion.h"
#include "relay/gateway/flows/flow_record.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::flow_ends_test {
namespace {

using Flags = wire::TcpFlags;

// A host with one connection, which takes and acknowledges what comes in order.
class MiniHost {
 public:
  struct Socket {
    const char* address;
    std::uint16_t port;
  };
  MiniHost(Socket own, Socket far, std::uint32_t isn) : own_(own), far_(far), next_(isn) {}

  FrameBytes frame(std::uint8_t flags, std::string_view payload = {}) {
    wire::TcpHeader tcp;
    tcp.source_port = own_.port;
    tcp.destination_port = far_.port;
    tcp.sequence = next_;
    tcp.acknowledgment = (flags & Flags::kAck) != 0 ? expected_ : 0;
    tcp.flags = flags;
    tcp.window = 64240;
    if ((flags & Flags::kSyn) != 0) tcp.options.mss = 1460;
    next_ += static_cast<std::uint32_t>(payload.size());
    if ((flags & (Flags::kSyn | Flags::kFin)) != 0) ++next_;
    return tcp_frame(own_.address, far_.address, tcp, host_to_server(), payload);
  }

  void send(Gateway& gateway, Instant now, std::uint8_t flags, std::string_view payload = {}) {
    EXPECT_EQ(gateway.handle_frame(PortId::kLan, frame(flags, payload), now), Verdict::kConsumed);
  }

  // All that the gateway has to say to it.
  void listen(Gateway& gateway, Instant now) {
    FrameBytes out(gateway.max_frame_size());
    while (const std::size_t size = gateway.poll_frame(PortId::kLan, out, now).size) {
      const Frame seen = look_at(ConstBytes(out).first(size));
      const auto tcp = wire::parse_tcp(seen.payload);
      ASSERT_TRUE(tcp);
      flow_labels.push_back(seen.ip.flow_label);
      if (!silent) take(gateway, now, seen.payload.subspan(tcp->header_size), tcp->header);
    }
  }

  std::string received;
  std::vector<std::uint32_t> flow_labels;
  int resets = 0;
  int syns = 0;
  std::uint32_t reset_sequence = 0;
  bool saw_end = false;

  bool silent = false;  // what comes is lost

 private:
  void take(Gateway& gateway, Instant now, ConstBytes payload, const wire::TcpHeader& tcp) {
    if (tcp.has(Flags::kRst)) {
      ++resets;
      reset_sequence = tcp.sequence;
      return;
    }
    if (tcp.has(Flags::kSyn)) {
      expected_ = tcp.sequence + 1;
      if (!tcp.has(Flags::kAck)) ++syns;
      send(gateway, now, tcp.has(Flags::kAck) ? Flags::kAck : kSynAck);
      return;
    }
    if (payload.empty() && !tcp.has(Flags::kFin)) return;
    if (tcp.sequence == expected_) {
      for (const std::byte b : payload) received += static_cast<char>(b);
      expected_ += static_cast<std::uint32_t>(payload.size()) + (tcp.has(Flags::kFin) ? 1U : 0U);
      saw_end = saw_end || tcp.has(Flags::kFin);
    }
    send(gateway, now, Flags::kAck);
  }
  static constexpr std::uint8_t kSynAck = Flags::kSyn | Flags::kAck;
  Socket own_;
  Socket far_;
  std::uint32_t next_;
  std::uint32_t expected_ = 0;
};

class FlowEnds : public GatewayTest {
 protected:
  void SetUp() override { start_peer(); }
  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      listen();
      step();
    }
    listen();
  }
  void listen() {
    near_.listen(*a_, now_);
    far_.listen(*b_, now_);
  }
  // A connection that both hosts end, until gateway A knows it no more.
  void relay_one_to_its_end() {
    near_.send(*a_, now_, Flags::kSyn);
    run(10);
    near_.send(*a_, now_, kFinAck);
    run(10);
    ASSERT_TRUE(far_.saw_end);
    far_.send(*b_, now_, kFinAck);
    run(20);
    ASSERT_TRUE(near_.saw_end);
    ASSERT_EQ(a_->flow_count(), 0U) << "out of LAST-ACK";
  }
  static constexpr std::uint8_t kFinAck = Flags::kFin | Flags::kAck;
  static constexpr std::uint8_t kPushAck = Flags::kPsh | Flags::kAck;
  MiniHost near_{{kClient, 40000}, {kServer, 80}, 1000};
  MiniHost far_{{kServer, 80}, {kClient, 40000}, 500'000};
};

TEST_F(FlowEnds, AStrayAckAfterTheEndIsAnsweredWithRst) {
  relay_one_to_its_end();
  const FrameBytes stray = near_.frame(Flags::kAck);
  const auto tcp = wire::parse_tcp(look_at(stray).payload);
  EXPECT_EQ(lan(stray), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedAfterEnd), 1U);
  near_.listen(*a_, now_);
  EXPECT_EQ(near_.resets, 1);
  EXPECT_EQ(near_.reset_sequence, tcp->header.acknowledgment);
  // A new connection of the same ports that is bridged is left alone.
  EXPECT_EQ(wan(far_.frame(Flags::kSyn)), Verdict::kBridge);
  EXPECT_EQ(lan(stray), Verdict::kBridge);
}

// The far host ends last, so its gateway waits for what it may say again.
class EndedFlow : public FlowEnds {
 protected:
  void SetUp() override {
    FlowEnds::SetUp();
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
  // What the client says again meanwhile crosses no bridge to it.
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

class ManyEnded : public FlowEnds {
 protected:
  static constexpr int kMany = 12;
  void SetUp() override {
    FlowEnds::SetUp();
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

// Each of these connections' hosts sends a SYN that its TIME-WAIT does not admit: RFC 5961's answer
// is what lets a host end the old connection by RST.
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

TEST_F(FlowEnds, ANewConnectionOfTheHostThatIsBridgedIsLeftAlone) {
  relay_one_to_its_end();
  a_->set_admission(Admission::kBypass, now_);
  EXPECT_EQ(lan(near_.frame(Flags::kSyn)), Verdict::kBridge);
  EXPECT_EQ(lan(near_.frame(Flags::kAck)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kDroppedAfterEnd), 0U);
}

TEST_F(FlowEnds, WhatWasNeverRelayedIsBridgedInMidStream) {
  EXPECT_EQ(lan(near_.frame(Flags::kAck)), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedMidStream), 1U);
}

// The end of the old connection and the beginning of the new arrive in one go.
TEST_F(FlowEnds, TheHostOfAFlowThatMakesRoomIsReset) {
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

// --- what is left of a flow ----------------------------------------------------------------------

class Notebook final : public FlowRecorder {
 public:
  void handle_end(const FlowRecord& record) override { records.push_back(record); }
  std::vector<FlowRecord> records;
};

class RecordedFlow : public FlowEnds {
 protected:
  void SetUp() override {
    FlowEnds::SetUp();
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
  // Of those of that size.
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
  EXPECT_EQ(a.peer, 0U);
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
  EXPECT_EQ(a.retransmitted + a.repeated, 0U);

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
  EXPECT_EQ(at_client_.records[0].repeated, 1U);
  EXPECT_EQ(at_client_.records[0].retransmitted, 0U);
  EXPECT_EQ(at_server_.records[0].repeated, 0U);
  EXPECT_GE(at_server_.records[0].retransmitted, 1U);
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

class SimultaneousOpen : public FlowEnds {
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
    run(700);  // TIME-WAIT, and the last words of streams
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

class FlowLabels : public FlowEnds {
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
