// The MAC to which a far host addresses its frames, as its gateway tells it. If the near host does
// not acknowledge, a flow tries this MAC first.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/relay/gateway/devices/mac_moves_fixture.h"

namespace satrelay::gateway::far_host_macs_test {
namespace {

using Flags = wire::TcpFlags;

constexpr MacAddress kSenderMac{{2, 0, 0, 0, 8, 8}};

class FarHostMacs : public MacMoves, public testing::WithParamInterface<LanPlace> {
 protected:
  void SetUp() override {
    MacMoves::SetUp();
    vlan_ = GetParam().vlan;
  }
  std::uint64_t told_by_b() const { return b_->counters()[Counter::kDestinationsTold]; }
  // The server addresses its frames to `mac` from now on, and sends `payload`.
  void serve_to(const MacAddress& mac, std::string_view payload) {
    named_by_server_ = mac;
    serve(payload);
  }
  void expect_all_at(const MacAddress& mac) {
    acknowledge(mac, 5);
    sent_.clear();
    serve("hello");
    wait(Duration::milliseconds(50));
    EXPECT_EQ(segments_to(mac), 1U);
    EXPECT_EQ(segments_to(mac), sent_.size());
  }
};

INSTANTIATE_TEST_SUITE_P(Lans, FarHostMacs,
                         testing::Values(LanPlace{kClient, kServer}, LanPlace{kClient, kServer, 7},
                                         LanPlace{kClientV6, kServerV6},
                                         LanPlace{kClientV6, kServerV6, 7}));

// No frame on this LAN shows where the client is.
TEST_P(FarHostMacs, AreTriedByAFlowThatRepeats) {
  open(GetParam());
  serve_to(kNewMac, "hello");
  wait(Duration::milliseconds(50));
  EXPECT_EQ(told_by_b(), 1U);
  EXPECT_EQ(count(Counter::kDestinationsHeard), 1U);
  ASSERT_EQ(segments_to(kHostMac), 1U) << "it may well be there";
  EXPECT_EQ(segments_to(kNewMac), 0U);
  wait_for(1, kNewMac);
  EXPECT_EQ(segments_to(kHostMac), 1U);
  expect_all_at(kNewMac);
}

TEST_P(FarHostMacs, LeadNoFlowAwayThatIsAcknowledged) {
  open(GetParam());
  for (int i = 0; i < 5; ++i) {
    serve_to(i % 2 == 0 ? kForgedMac : kHostMac, "hello");
    wait(Duration::milliseconds(50));
    acknowledge(kHostMac, 5);
  }
  EXPECT_EQ(segments_to(kHostMac), 5U);
  EXPECT_EQ(segments_to(kForgedMac), 0U);
}

// However often the MAC changes, each second repeat goes to the MAC by which the host was heard.
TEST_P(FarHostMacs, ThatNobodyConfirmsCostOneRepeatEach) {
  open(GetParam());
  serve("hello");
  for (int i = 0; i < 400; ++i) {
    serve_to(i % 2 == 0 ? kForgedMac : kNewMac, "x");
    wait(Duration::milliseconds(50));
  }
  ASSERT_GE(segments_to(kHostMac), 3U);
  EXPECT_LE(segments_to(kForgedMac) + segments_to(kNewMac), segments_to(kHostMac));
  EXPECT_EQ(count(Counter::kFlowsResetTimeout), 0U);
}

// The owner of the client's address would answer, but it is not asked.
TEST_P(FarHostMacs, LeadNoFlowOfOtherFarHostsAway) {
  claim(GetParam().client, kHostMac);
  open(GetParam());
  serve_to(kForgedMac, "hello");
  wait(Duration::milliseconds(1'200));
  EXPECT_EQ(questions(), 0U) << "nobody else's business";
  EXPECT_EQ(count(Counter::kDestinationsHeard), 1U);
  named_by_server_ = kHostMac;
  server_.back() = '6';
  connect(40'001);
  serve("hello");
  wait(Duration::seconds(10));
  std::size_t elsewhere = 0, there = 0;
  for (const SentToLan& sent : sent_) {
    if (!sent.tcp || sent.tcp->destination_port != 40'001) continue;
    ++(sent.ethernet.destination == kHostMac ? there : elsewhere);
  }
  EXPECT_GE(there, 3U);
  EXPECT_EQ(elsewhere, 0U);
  EXPECT_EQ(count(Counter::kLanMoves), 0U);
}

TEST_P(FarHostMacs, OnceTriedInVainCostNoMore) {
  open(GetParam());
  serve_to(kForgedMac, "hello");
  wait_for(1, kForgedMac);
  wait_for(segments_to(kHostMac) + 1, kHostMac);
  EXPECT_EQ(segments_to(kForgedMac), 1U);
  acknowledge(kHostMac, 5);
  end_backoff(kHostMac);
  serve("hello");
  wait_for(3, kHostMac);
  EXPECT_EQ(segments_to(kForgedMac), 0U) << "the same word costs no more";
}

// Two routers share a MAC, to which servers address their frames. Each router sends from a MAC of
// its own.
TEST_P(FarHostMacs, AreWhereAClientIsAnsweredThatItsServerHasAnswered) {
  config_a_.rules.back().modes.handshake = config::HandshakeMode::kRemote;
  restart();
  for (int i = 0; i < 40; ++i) step();
  client_ = GetParam().client;
  server_ = GetParam().server;
  ASSERT_EQ(lan(frame_of(syn(40'000), {}, ethernet(kSenderMac))), Verdict::kConsumed);
  named_by_server_ = kHostMac;
  for (int i = 0; i < 3; ++i) step();
  FrameBytes bytes(b_->max_frame_size());
  const std::size_t size = b_->poll_frame(PortId::kLan, bytes, now_).size;
  const auto theirs = wire::parse_tcp(look_at(ConstBytes(bytes).first(size)).payload);
  ASSERT_TRUE(theirs);
  back_.source_port = theirs->header.destination_port;
  back_.destination_port = 40'000;
  back_.sequence = 9'000;
  back_.acknowledgment = theirs->header.sequence + 1;
  back_.flags = Flags::kSyn | Flags::kAck;
  back_.window = 64'240;
  serve("");
  wait(Duration::milliseconds(400));
  EXPECT_EQ(told_by_b(), 1U);
  ASSERT_EQ(segments_to(kHostMac), 1U) << "the first, and no repeat";
  EXPECT_EQ(segments_to(kSenderMac), 0U);
  wire::TcpHeader tcp = segment(0);
  tcp.acknowledgment = acknowledgment_ = last_segment().tcp->sequence + 1;
  ASSERT_EQ(lan(frame_of(tcp, {}, ethernet(kSenderMac))), Verdict::kConsumed);
  take();
  EXPECT_EQ(count(Counter::kFlowsEstablished), 1U);
  // The next connection begins with that MAC, too.
  config::Gateway next = config_a_;
  next.rules.back().modes.handshake = config::HandshakeMode::kLocal;
  a_->reconfigure(next, now_);
  sent_.clear();
  ASSERT_EQ(lan(frame_of(syn(40'001), {}, ethernet(kSenderMac))), Verdict::kConsumed);
  take();
  EXPECT_EQ(segments_to(kHostMac), 1U);
  EXPECT_EQ(segments_to(kSenderMac), 0U);
}

// The router that sends the client's frames goes down, and its own MAC with it.
TEST_P(FarHostMacs, ArePreferredToTheMacOfItsFrames) {
  open(GetParam());
  serve_to(kNewMac, "hello");
  wait(Duration::milliseconds(20));
  acknowledge(kHostMac, 5);
  ASSERT_EQ(lan(frame_of(segment(0), "data", ethernet(kSenderMac))), Verdict::kConsumed);
  wait(Duration::milliseconds(50));
  EXPECT_EQ(last_segment().ethernet.destination, kNewMac);
  EXPECT_EQ(segments_to(kSenderMac), 0U);
}

// The client stays where it was, and finds the server at another MAC.
TEST_P(FarHostMacs, AreToldOfServersToo) {
  open(GetParam());
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(lan(frame_of(segment(0), "data", ethernet(kHostMac, kNewMac))), Verdict::kConsumed);
  }
  step();
  EXPECT_EQ(count(Counter::kDestinationsTold), 1U);
  EXPECT_EQ(b_->counters()[Counter::kDestinationsHeard], 1U);
  FrameBytes bytes(b_->max_frame_size());
  bool is_sent_there = false;
  for (int i = 0; i < 30 && !is_sent_there; ++i) {
    step();
    while (const std::size_t size = b_->poll_frame(PortId::kLan, bytes, now_).size) {
      const Frame frame = look_at(ConstBytes(bytes).first(size));
      is_sent_there |= frame.ethernet.destination == kNewMac;
    }
  }
  EXPECT_TRUE(is_sent_there);
}

}  // namespace
}  // namespace satrelay::gateway::far_host_macs_test
