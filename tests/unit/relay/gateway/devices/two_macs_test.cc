// A host sends from one MAC and receives on another, as behind a pair of routers. Frames to it go
// where they are acknowledged, and not where its own frames come from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/relay/gateway/devices/mac_moves_fixture.h"

namespace satrelay::gateway::two_macs_test {
namespace {

using Flags = wire::TcpFlags;

constexpr MacAddress kSenderMac{{2, 0, 0, 0, 8, 8}};

class TwoMacs : public MacMoves {
 protected:
  void place(const LanPlace& at) {
    vlan_ = at.vlan;
    client_ = at.client;
    server_ = at.server;
  }
  // The client sends a SYN from its second MAC.
  void begin(std::uint16_t port) {
    port_ = port;
    sent_.clear();
    ASSERT_EQ(lan(frame_of(syn(port_), {}, ethernet(kSenderMac))), Verdict::kConsumed);
    take();
  }
  // The client has got the last segment, and acknowledges it from its second MAC.
  void accept(std::uint32_t bytes = 1) {
    wire::TcpHeader tcp = segment(0);
    tcp.source_port = port_;
    tcp.acknowledgment = acknowledgment_ = last_segment().tcp->sequence + bytes;
    ASSERT_EQ(lan(frame_of(tcp, {}, ethernet(kSenderMac))), Verdict::kConsumed);
    take();
  }
  void send(std::uint32_t offset, std::string_view payload, const MacAddress& from) {
    wire::TcpHeader tcp = segment(offset);
    tcp.source_port = port_;
    ASSERT_EQ(lan(frame_of(tcp, payload, ethernet(from))), Verdict::kConsumed);
    take();
  }
  // The client sends its SYN from its second MAC. The answer reaches it at its first.
  void begin_at_both() {
    claim(client_, kHostMac);
    begin(40'000);
    EXPECT_EQ(last_segment().ethernet.destination, kSenderMac) << "nothing else is known to work";
    wait_for(1, kHostMac);
    accept();
    sent_.clear();
  }

  std::uint16_t port_ = 0;
};

class TwoMacsTest : public TwoMacs, public testing::WithParamInterface<LanPlace> {
 protected:
  void SetUp() override {
    TwoMacs::SetUp();
    place(GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Lans, TwoMacsTest,
                         testing::Values(LanPlace{kClient, kServer}, LanPlace{kClient, kServer, 7},
                                         LanPlace{kClientV6, kServerV6},
                                         LanPlace{kClientV6, kServerV6, 7}));

TEST_P(TwoMacsTest, AClientIsAnsweredWhereArpHasNamedIt) {
  begin_at_both();
  // Each frame of the client comes from its second MAC.
  for (std::uint32_t i = 0; i < 3; ++i) {
    send(4 * i, "data", kSenderMac);
    wait(Duration::milliseconds(50));
  }
  EXPECT_GE(segments_to(kHostMac), 2U);
  EXPECT_EQ(segments_to(kSenderMac), 0U);
}

// The client's timer may expire before the gateway's, each time.
TEST_P(TwoMacsTest, AClientThatRepeatsItsSynIsAnsweredElsewhereAtOnce) {
  claim(client_, kHostMac);
  begin(40'000);
  wait(Duration::milliseconds(900));
  EXPECT_EQ(segments_to(kHostMac), 0U);
  begin(40'000);
  EXPECT_EQ(segments_to(kHostMac), 1U);
  EXPECT_EQ(segments_to(kSenderMac), 0U);
  begin(40'000);
  EXPECT_EQ(segments_to(kSenderMac), 1U) << "one that nobody confirms costs one repeat";
}

TEST_P(TwoMacsTest, TheNextConnectionOfAClientIsAnsweredThereAtOnce) {
  begin_at_both();
  begin(40'001);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(last_segment().ethernet.destination, kHostMac);
  accept();
  wait(Duration::seconds(3));
  EXPECT_EQ(questions(), 0U) << "that it has two is known";
}

// Only its second MAC is in use now.
TEST_P(TwoMacsTest, AClientThatIsNotThereAnyMoreIsAnsweredWhereItsFramesComeFrom) {
  begin_at_both();
  begin(40'001);
  begin(40'001);
  ASSERT_EQ(segments_to(kSenderMac), 1U);
  accept();
  answer_as_server(port_);
  serve("hello");
  wait(Duration::milliseconds(50));
  accept(5);
  begin(40'002);
  EXPECT_EQ(last_segment().ethernet.destination, kSenderMac);
}

TEST_P(TwoMacsTest, AClientOfWhichNobodyHasHeardIsAskedFor) {
  begin(40'000);
  wait(Duration::milliseconds(900));
  EXPECT_EQ(questions(), 0U);
  wait(Duration::milliseconds(200));
  ASSERT_EQ(questions(), 1U);
  const auto question = std::ranges::find(sent_, true, &SentToLan::is_question);
  EXPECT_TRUE(question->ethernet.destination.is_multicast());
  EXPECT_EQ(question->ethernet.source, kGatewayMac);
  EXPECT_EQ(question->ethernet.tag_count, vlan_ != 0 ? 1 : 0);
  claim(client_, kHostMac, Override::kSet, kGatewayMac);
  EXPECT_EQ(verdict_, Verdict::kConsumed);
  wait_for(1, kHostMac);
  accept();
  sent_.clear();
  send(0, "data", kSenderMac);
  wait(Duration::milliseconds(50));
  EXPECT_EQ(segments_to(kHostMac), 1U);
  EXPECT_EQ(segments_to(kSenderMac), 0U);
}

TEST_P(TwoMacsTest, AServerIsSentToWhereTheClientSendsTo) {
  wire::TcpHeader tcp = syn(40'000);
  ASSERT_EQ(lan(frame_of(tcp, {}, ethernet(kHostMac))), Verdict::kConsumed);
  port_ = 40'000;
  take();
  acknowledgment_ = last_segment().tcp->sequence + 1;
  send(0, {}, kHostMac);
  FrameBytes bytes(b_->max_frame_size());
  std::vector<MacAddress> towards;
  std::optional<wire::TcpHeader> last;
  const auto take_b = [&] {
    while (const std::size_t size = b_->poll_frame(PortId::kLan, bytes, now_).size) {
      const Frame frame = look_at(ConstBytes(bytes).first(size));
      if (frame.kind != FrameKind::kTcp) continue;
      towards.push_back(frame.ethernet.destination);
      last = wire::parse_tcp(frame.payload)->header;
    }
  };
  for (int i = 0; i < 3; ++i) step();
  take_b();
  ASSERT_EQ(towards, std::vector{kServerMac});
  wire::TcpHeader back;
  back.source_port = last->destination_port;
  back.destination_port = last->source_port;
  back.sequence = 9'000;
  back.acknowledgment = last->sequence + 1;
  back.flags = Flags::kSyn | Flags::kAck;
  back.window = 64'240;
  b_->handle_frame(PortId::kLan, tcp_frame(server_, client_, back, ethernet(kSenderMac, kHostMac)),
                   now_);
  towards.clear();
  send(0, "question", kHostMac);
  step();
  take_b();
  back.flags = Flags::kAck;
  ++back.sequence;
  back.acknowledgment += 8;
  b_->handle_frame(PortId::kLan,
                   tcp_frame(server_, client_, back, ethernet(kSenderMac, kHostMac), "answer"),
                   now_);
  step();
  take_b();
  ASSERT_GE(towards.size(), 2U);
  for (const MacAddress& mac : towards) EXPECT_EQ(mac, kServerMac);
}

// The host uses the new MAC for all its frames.
TEST_P(TwoMacsTest, AHostThatSendsDataFromANewMacIsAnsweredThere) {
  claim(client_, kHostMac);
  open(GetParam());
  port_ = 40'000;
  send(0, "data", kNewMac);
  wait(Duration::milliseconds(50));
  EXPECT_EQ(segments_to(kNewMac), 1U);
  EXPECT_EQ(segments_to(kHostMac), 0U);
}

// A bond that spreads its frames over two MACs does this.
TEST_P(TwoMacsTest, AHostThatHearsNothingThereIsAnsweredWhereItWas) {
  claim(client_, kHostMac);
  open(GetParam());
  port_ = 40'000;
  send(0, "data", kNewMac);
  wait(Duration::milliseconds(200));
  sent_.clear();
  for (int i = 0; i < 2; ++i) {
    send(0, "data", kNewMac);
    wait(Duration::milliseconds(200));
  }
  EXPECT_GE(segments_to(kHostMac), 1U);
  sent_.clear();
  send(4, "more", kNewMac);
  wait(Duration::milliseconds(50));
  EXPECT_EQ(segments_to(kHostMac), 1U);
  EXPECT_EQ(segments_to(kNewMac), 0U) << "it was tried";
}

// Once the host was reached for sure, a lost segment is no reason to send to the other MAC.
TEST_P(TwoMacsTest, TheMacOfItsFramesIsTriedOnce) {
  begin_at_both();
  wait(Duration::milliseconds(400));
  answer_as_server(port_);
  serve("hello");
  wait_for(1, kSenderMac);
  wait_for(segments_to(kHostMac) + 1, kHostMac);
  EXPECT_EQ(segments_to(kSenderMac), 1U);
  acknowledge(kSenderMac, 5);
  end_backoff(kSenderMac);
  serve("hello");
  wait_for(2, kHostMac);
  EXPECT_EQ(segments_to(kSenderMac), 0U);
}

// Bytes of the server arrive at the MAC on which the client receives. The next connection begins
// there at once.
class ClientOfTwoMacs : public TwoMacsTest {
 protected:
  void expect_both() {
    answer_as_server(port_);
    serve("hello");
    wait_for(1, kHostMac);
    accept(5);
    for (int i = 0; i < 2; ++i) {
      sent_.clear();
      serve("hello");
      wait(Duration::milliseconds(50));
      EXPECT_EQ(segments_to(kHostMac), 1U);
      EXPECT_EQ(segments_to(kSenderMac), 0U);
      accept(5);
    }
    begin(40'001);
    EXPECT_EQ(last_segment().ethernet.destination, kHostMac);
  }
};

INSTANTIATE_TEST_SUITE_P(Lans, ClientOfTwoMacs,
                         testing::Values(LanPlace{kClient, kServer},
                                         LanPlace{kClientV6, kServerV6, 7}));

// The client's ACK may be for the SYN-ACK before. It comes from the MAC from which the client sends
// in any case.
TEST_P(ClientOfTwoMacs, ThatRepeatsItsSynAfterTheGatewaysTimerIsFound) {
  claim(client_, kHostMac);
  begin(40'000);
  wait_for(1, kHostMac);
  begin(40'000);
  ASSERT_EQ(segments_to(kSenderMac), 1U);
  accept();
  expect_both();
}

TEST_P(ClientOfTwoMacs, ThatRepeatsItsSynBeforeTheGatewaysTimerIsFound) {
  claim(client_, kHostMac);
  begin(40'000);
  wait(Duration::milliseconds(900));
  begin(40'000);
  ASSERT_EQ(segments_to(kHostMac), 1U);
  wait_for(1, kSenderMac);
  accept();
  expect_both();
}

TEST_P(ClientOfTwoMacs, ThatAnswersLateIsFoundAgain) {
  begin_at_both();
  answer_as_server(port_);
  serve("hello");
  wait(Duration::milliseconds(50));
  accept(5);
  serve("hello");
  wait_for(1, kSenderMac);
  accept(5);
  sent_.clear();
  serve("hello");
  wait_for(1, kHostMac);
  accept(5);
  sent_.clear();
  serve("hello");
  wait(Duration::milliseconds(50));
  EXPECT_EQ(segments_to(kHostMac), 1U);
  EXPECT_EQ(segments_to(kSenderMac), 0U);
}

TEST_P(ClientOfTwoMacs, ThatAnswersLateIsStillFoundByItsNextConnection) {
  begin_at_both();
  answer_as_server(port_);
  serve("hello");
  wait(Duration::milliseconds(50));
  accept(5);
  serve("hello");
  wait_for(1, kSenderMac);
  accept(5);
  begin(40'001);
  EXPECT_EQ(last_segment().ethernet.destination, kHostMac) << "a late answer proves nothing";
}

}  // namespace
}  // namespace satrelay::gateway::two_macs_test
