// A machine of the LAN knows the addresses and ports of a relayed connection. Its segments with
// wrong numbers have no effect on the connection.
#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/relayed_fixture.h"

namespace satrelay::gateway::forged_segment_test {
namespace {

constexpr MacAddress kElsewhere{{2, 0, 0, 0, 0, 0x66}};

wire::EthernetHeader from_elsewhere() {
  wire::EthernetHeader ethernet = host_to_server();
  ethernet.source = kElsewhere;
  return ethernet;
}

class ForgedSegment : public RelayedTest {
 protected:
  // The MAC to which the gateway sends the answer to the client's next byte.
  MacAddress host() {
    lan(frame_of(segment(0), std::string(3000, 'x')));
    EXPECT_TRUE(hear());
    return heard_by();
  }
};

TEST_F(ForgedSegment, DoesNotRedirectTheConnection) {
  open();
  wire::TcpHeader beyond = segment(1'000'000'000);
  wire::TcpHeader unsent = segment(0);
  unsent.acknowledgment += 1000;
  wire::TcpHeader reset = segment(5000);
  reset.flags = wire::TcpFlags::kRst;
  wire::TcpHeader again = syn();
  again.sequence = 77;
  for (const auto& forged : {beyond, unsent, reset, again}) {
    lan(frame_of(forged, {}, from_elsewhere()));
    while (hear()) EXPECT_EQ(heard_by(), kHostMac) << "a challenge";
  }
  EXPECT_EQ(host(), kHostMac);
}

TEST_F(ForgedSegment, OfTheHandshakeDoesNotRedirectItEither) {
  client_ = kClient;
  server_ = kServer;
  ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  ASSERT_TRUE(hear());
  wire::TcpHeader other = syn();
  other.sequence = 77;
  lan(frame_of(other, {}, from_elsewhere()));
  wire::TcpHeader wrong = segment(0);
  wrong.acknowledgment = 4711;
  lan(frame_of(wrong, {}, from_elsewhere()));
  while (hear()) EXPECT_EQ(heard_by(), kHostMac);
  lan(tcp_frame(kClient, kServer, syn(), from_elsewhere()));
  ASSERT_TRUE(hear());
  EXPECT_EQ(heard_by(), kElsewhere) << "the very SYN, by another way";
}

TEST_F(ForgedSegment, AHostThatHasMovedIsFollowed) {
  open();
  ASSERT_EQ(host(), kHostMac);
  // Our ACK went to the host's former MAC, so the host sends the same bytes again.
  lan(frame_of(segment(0), std::string(3000, 'x'), from_elsewhere()));
  ASSERT_TRUE(hear());
  EXPECT_EQ(heard_by(), kElsewhere);
}

TEST_F(ForgedSegment, DoesNotKeepASilentConnectionAlive) {
  config_a_.limits.idle_timeout = Duration::seconds(5);
  restart();
  start_peer();
  for (const bool forged : {true, false}) {
    open();
    const Instant start = now_;
    const std::uint64_t before = count(Counter::kFlowsResetIdle);
    // The host's own keep-alive counts.
    const wire::TcpHeader asks = segment(forged ? 1'000'000'000 : std::uint32_t(-1));
    while (now_ < start + Duration::seconds(8)) {
      step();
      lan(frame_of(asks));
      while (hear()) {
      }
    }
    EXPECT_EQ(count(Counter::kFlowsResetIdle) - before, forged ? 1U : 0U);
    restart();
    start_peer();
  }
}

TEST_F(ForgedSegment, DoesNotChangeTheMarksThatTheFarHostSees) {
  // Returns how many bytes cross with a byte of the host. There are more of them if new marks go
  // before it.
  const auto crossed = [&](std::optional<std::uint32_t> second) {
    restart();
    start_peer();
    open();
    for (int i = 0; i < 3; ++i) step();
    while (next_frame(PortId::kWan)) {
    }
    lan(frame_of(segment(0), "y"));
    if (second) {
      FrameBytes marked = frame_of(segment(*second), "z");
      wire::IpHeader ip = *wire::parse_ip(ConstBytes(marked).subspan(wire::kEthernetHeaderSize));
      ip.traffic_class = 0xb8;
      lan(ip_frame(host_to_server(), ip, FrameBytes(marked.begin() + 34, marked.end())));
    }
    std::size_t bytes = 0;
    while (const auto frame = next_frame(PortId::kWan)) bytes += frame->size();
    return bytes;
  };
  const std::size_t alone = crossed(std::nullopt);
  EXPECT_EQ(crossed(1'000'000'000), alone);
  EXPECT_GT(crossed(1), alone + 1) << "its own";
}

// Two hosts have a connection that no gateway relays. A machine on the client's LAN sends a SYN
// with its addresses and ports. If the gateway answered that SYN, the new flow would take the
// connection's place.
class ForgedSynOfBridged : public ForgedSegment {
 protected:
  ForgedSynOfBridged() {
    client_ = kClient;
    server_ = kServer;
  }
  static constexpr std::uint32_t kServerAt = 777;
  void from_server(std::uint8_t flags, std::uint32_t sequence = kServerAt) {
    wire::TcpHeader tcp;
    tcp.source_port = 80;
    tcp.destination_port = 40000;
    tcp.sequence = sequence;
    tcp.acknowledgment = 5'000'000;
    tcp.flags = flags;
    wire::EthernetHeader ethernet;
    ethernet.source = kPeerMac;
    ethernet.destination = kHostMac;
    EXPECT_EQ(wan(tcp_frame(kServer, kClient, tcp, ethernet)), Verdict::kBridge);
  }
  void from_client(std::uint8_t flags, std::uint32_t acknowledgment = kServerAt) {
    wire::TcpHeader tcp = syn();
    tcp.options = {};
    tcp.sequence = 5'000'000;
    tcp.acknowledgment = acknowledgment;
    tcp.flags = flags;
    EXPECT_EQ(lan(tcp_frame(kClient, kServer, tcp)), Verdict::kBridge);
  }
  Verdict forged_syn() {
    wire::TcpHeader forged = syn();
    forged.sequence += next_ += 12345;  // not a repetition
    return lan(tcp_frame(kClient, kServer, forged, from_elsewhere()));
  }
  void wait(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now_ += Duration::seconds(1);
      step();
    }
  }
  std::uint32_t next_ = 0;
};

TEST_F(ForgedSynOfBridged, IsBridged) {
  from_server(wire::TcpFlags::kAck);
  from_client(wire::TcpFlags::kAck);
  EXPECT_EQ(forged_syn(), Verdict::kBridge) << "its hosts settle it";
  EXPECT_FALSE(hear());
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(40001))), Verdict::kConsumed) << "another one";
  wait(70);
  from_client(wire::TcpFlags::kAck);
  from_server(wire::TcpFlags::kAck);
  wait(70);
  EXPECT_EQ(forged_syn(), Verdict::kBridge) << "both have spoken in the last two minutes";
}

TEST_F(ForgedSynOfBridged, IsRelayedWhenBothHostsHaveEndedTheConnection) {
  from_server(wire::TcpFlags::kAck);
  from_client(wire::TcpFlags::kAck);
  from_server(wire::TcpFlags::kFin | wire::TcpFlags::kAck);
  EXPECT_EQ(forged_syn(), Verdict::kBridge) << "the client has yet to say so";
  from_client(wire::TcpFlags::kAck, kServerAt + 1);
  EXPECT_EQ(forged_syn(), Verdict::kBridge) << "it may still send";
  from_client(wire::TcpFlags::kFin | wire::TcpFlags::kAck, kServerAt + 1);
  from_server(wire::TcpFlags::kAck, kServerAt + 1);
  EXPECT_EQ(forged_syn(), Verdict::kConsumed) << "a new one is relayed";
}

TEST_F(ForgedSynOfBridged, IsBridgedThoughTheWanSaysThatTheConnectionIsOver) {
  from_server(wire::TcpFlags::kAck);
  from_client(wire::TcpFlags::kAck);
  for (const std::uint8_t flags :
       {wire::TcpFlags::kFin, wire::TcpFlags::kRst, wire::TcpFlags::kSyn}) {
    from_server(flags, kServerAt + 1'000);
    from_server(flags, kServerAt + 1'000'000'000);
    from_client(wire::TcpFlags::kAck);  // as RFC 5961 requires
    EXPECT_EQ(forged_syn(), Verdict::kBridge) << int{flags};
  }
  from_server(wire::TcpFlags::kRst);
  EXPECT_EQ(forged_syn(), Verdict::kConsumed) << "this one ends the client's connection";
}

TEST_F(ForgedSynOfBridged, NeedsBothHostsToHaveSpoken) {
  from_server(wire::TcpFlags::kAck);
  EXPECT_EQ(forged_syn(), Verdict::kConsumed) << "nobody knows who has sent that";
}

TEST_F(ForgedSynOfBridged, OfASilentConnectionIsRelayed) {
  from_server(wire::TcpFlags::kAck);
  from_client(wire::TcpFlags::kAck);
  wait(130);
  EXPECT_EQ(forged_syn(), Verdict::kConsumed);
}

// Two hosts have a connection that no gateway relays. A machine on the client's LAN sends a SYN
// with its addresses and ports. The gateways pass such a SYN on before any host has answered it.
class ForgedSyn : public RelayedTest {
 protected:
  void SetUp() override {
    config_a_.rules.back().modes.handshake = config::HandshakeMode::kRemote;
    RelayedTest::SetUp();
  }
  // The segments that the server's gateway sends to the server.
  std::vector<wire::TcpHeader> to_server() {
    std::vector<wire::TcpHeader> heard;
    FrameBytes frame(b_->max_frame_size());
    while (const std::size_t size = b_->poll_frame(PortId::kLan, frame, now_).size) {
      const Frame seen = look_at(ConstBytes(frame).first(size));
      if (seen.kind != FrameKind::kTcp) continue;
      const auto tcp = wire::parse_tcp(seen.payload);
      if (tcp) heard.push_back(tcp->header);
    }
    return heard;
  }
  void from_server(std::uint8_t flags, std::uint32_t acknowledgment) {
    wire::TcpHeader tcp;
    tcp.source_port = 80;
    tcp.destination_port = 40000;
    tcp.sequence = 777;
    tcp.acknowledgment = acknowledgment;
    tcp.flags = flags;
    tcp.window = 1000;
    wire::EthernetHeader back;
    back.source = kServerMac;
    back.destination = kPeerMac;
    b_->handle_frame(PortId::kLan, tcp_frame(kServer, kClient, tcp, back), now_);
  }
};

TEST_F(ForgedSyn, EndsNoConnectionThatNobodyRelays) {
  ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  step();
  const auto syns = to_server();
  ASSERT_EQ(syns.size(), 1U);
  from_server(wire::TcpFlags::kAck, syns[0].sequence - 5000);
  EXPECT_TRUE(to_server().empty()) << "a reset would have the very number that the server takes";
  EXPECT_EQ(b_->flow_count(), 1U) << "anybody may have sent that";
  for (int i = 0; i < 12; ++i) step();
  ASSERT_EQ(to_server().size(), 1U) << "the SYN again";
  from_server(wire::TcpFlags::kAck, syns[0].sequence - 5000);
  EXPECT_TRUE(to_server().empty());
  EXPECT_EQ(b_->counters()[Counter::kDroppedNoAnswer], 2U);
  EXPECT_EQ(b_->counters()[Counter::kFlowsInUse], 1U);
  EXPECT_EQ(b_->flow_count(), 0U);
  step();
  EXPECT_EQ(count(Counter::kFlowsInUse), 1U);
  EXPECT_FALSE(hear()) << "the client never asked";
  // The next SYN is bridged, whatever its number. A SYN of another connection is not.
  wire::TcpHeader next = syn();
  next.sequence += 12345;
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, next)), Verdict::kBridge);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn(40001))), Verdict::kConsumed);
  now_ += Duration::seconds(121);
  for (int i = 0; i < 20; ++i) step();
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, next)), Verdict::kConsumed);
}

TEST_F(ForgedSyn, AForgedAnswerDoesNotKeepTheServersFromCounting) {
  ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  step();
  const auto syns = to_server();
  ASSERT_EQ(syns.size(), 1U);
  from_server(wire::TcpFlags::kAck, syns[0].sequence - 5000);
  from_server(wire::TcpFlags::kSyn | wire::TcpFlags::kAck, syns[0].sequence + 1);
  const auto answer = to_server();
  ASSERT_EQ(answer.size(), 1U);
  EXPECT_EQ(answer[0].flags, wire::TcpFlags::kAck);
  step();
  const auto answered = hear();
  ASSERT_TRUE(answered);
  EXPECT_TRUE(answered->has(wire::TcpFlags::kSyn));
}

// A client that completes a handshake has asked for the connection. So it has forgotten any older
// connection in its way, and that one may be reset.
TEST_F(ForgedSyn, AClientThatIsKnownEndsWhatItHasForgotten) {
  config_a_.rules.back().modes = {};
  restart();
  start_peer();
  open();
  step();
  const auto syns = to_server();
  ASSERT_EQ(syns.size(), 1U);
  from_server(wire::TcpFlags::kAck, syns[0].sequence - 5000);
  const auto answer = to_server();
  ASSERT_EQ(answer.size(), 1U);
  EXPECT_EQ(answer[0].flags, wire::TcpFlags::kRst);
  EXPECT_EQ(answer[0].sequence, syns[0].sequence - 5000);
}

}  // namespace
}  // namespace satrelay::gateway::forged_segment_test
