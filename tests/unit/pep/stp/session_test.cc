// One stream at a time between two sessions.
#include <gtest/gtest.h>

#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/hello_packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::session_test {
namespace {

class SessionTest : public ::testing::Test {
 protected:
  explicit SessionTest(ChannelFaults faults = {})
      : net(end_config(true), end_config(false), Duration::milliseconds(275), faults, 1) {
    net.start(0, 1000);
    net.start(1, 2000);
    net.run(Duration::seconds(2));
  }
  Network net;
};

TEST_F(SessionTest, BothSidesBecomeAlive) {
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kAlive);
  EXPECT_EQ(net.session(1).peer_state(), PeerState::kAlive);
  EXPECT_EQ(net.session(0).peer_epoch(), 2000U);
  EXPECT_EQ(net.session(1).peer_epoch(), 1000U);
  EXPECT_EQ(net.apps[0].alive, 1);
  EXPECT_EQ(net.apps[1].alive, 1);
  EXPECT_NEAR(net.session(0).path().smoothed_rtt().to_seconds(), 0.55, 0.01);
}

TEST_F(SessionTest, MovesAStreamBothWays) {
  ASSERT_TRUE(net.apps[0].open(1'000'000, 300'000, net.now));
  EXPECT_TRUE(net.run(Duration::seconds(10), [&] {
    return net.apps[0].finished_flows == 1 && net.apps[1].finished_flows == 1;
  })) << net.error();
  EXPECT_EQ(net.error(), "");
  EXPECT_EQ(net.apps[1].bytes_read, 1'000'000U);
  EXPECT_EQ(net.apps[0].bytes_read, 300'000U);
  net.run(Duration::seconds(2));
  EXPECT_EQ(net.ends[0]->arena().used_blocks(), 0U);
  EXPECT_EQ(net.ends[1]->arena().used_blocks(), 0U);
  EXPECT_EQ(net.session(0).streams().count(), 0U);
  EXPECT_EQ(net.session(1).streams().count(), 0U);
  EXPECT_EQ(net.session(0).counters().packets_lost, 0U);
}

// On a silent path the packets are large and small by turns. Each session begins with a large one,
// whatever the session before has sent last.
TEST_F(SessionTest, AConnectionRemembersNothingOfTheOneBefore) {
  int large = 0;
  Instant first_large, outage;
  net.on_packet = [&](int end, ConstBytes packet) {
    if (end == 0 && packet.size() > 1200 && large++ == 0) first_large = net.now;
  };
  const auto fall_silent = [&] {
    ASSERT_TRUE(net.apps[0].open(1, 1, net.now));
    net.run(Duration::seconds(10), [&] { return net.apps[0].finished_flows == 1; });
    net.apps[0].finished_flows = 0;
    large = 0;
    outage = net.now;
    net.channels[0].outage = net.channels[1].outage = true;
    net.run(Duration::seconds(60), [&] { return large == 2; });
    net.channels[0].outage = net.channels[1].outage = false;
    net.run(Duration::seconds(30), [&] { return net.both_alive(); });
  };
  fall_silent();
  const Duration patience = first_large - outage;
  // The next packet would be small.
  net.channels[0].outage = net.channels[1].outage = true;
  net.run(Duration::seconds(60), [&] { return large == 3; });
  net.channels[0].outage = net.channels[1].outage = false;
  net.start(1, 3000);
  ASSERT_TRUE(net.run(Duration::seconds(30), [&] { return net.session(0).peer_epoch() == 3000; }));
  net.run(Duration::seconds(5));
  fall_silent();
  EXPECT_EQ(first_large - outage, patience);
}

// The peer of a session, made by hand. It offers the given capabilities, and answers only when told
// to.
class HandMadePeer {
 public:
  HandMadePeer(Session& session, std::uint32_t capabilities) : session_(session) {
    HelloFrame hello;
    hello.minimum_version = hello.maximum_version = 1;
    hello.capabilities = capabilities;
    hello.epoch = kEpoch;
    hello.peer_epoch = kSessionEpoch;
    hello.datagram_size = 1472;
    hello.lane_credit = hello.stream_credit = 1 << 20;
    session_.handle_packet(sim::write_hello_packet({.number = 1}, hello), now);
  }
  template <typename Write>
  void say(Write&& write, const Reception& reception = {}) {
    std::vector<std::byte> bytes(1472);
    ByteWriter out(MutableBytes(bytes).subspan(kHeaderSize));
    write(out);
    bytes.resize(kHeaderSize + out.written() + kTrailerSize);
    const SessionSeal seal(kEpoch, kSessionEpoch);
    PacketHeader header;
    header.session_tag = seal.tag();
    header.number = next_++;
    write_header(header, bytes.data());
    seal.close(bytes);
    session_.handle_packet(bytes, now, reception);
  }
  // The types of the frames that the session sends now, in order, without HELLOs.
  std::vector<FrameType> hear() {
    struct Types : IgnoreFrames {
      Types(std::vector<FrameType>& to, ReceptionFrame& last) : types(to), reception(last) {}
      using IgnoreFrames::operator();
      void operator()(const ReceptionFrame& frame) const {
        reception = frame;
        types.push_back(FrameType::kReception);
      }
      void operator()(const FeedbackFrame&) const { types.push_back(FrameType::kFeedback); }
      std::vector<FrameType>& types;
      ReceptionFrame& reception;
    };
    std::vector<FrameType> types;
    std::array<std::byte, 1472> packet{};
    while (const std::size_t size = session_.poll_packet(packet, now)) {
      const ConstBytes whole = ConstBytes(packet).first(size);
      const auto header = parse_header(whole);
      if (header->type == PacketType::kHello) continue;
      EXPECT_TRUE(walk_frames(frames_of(whole), Types(types, told)));
    }
    return types;
  }

  static constexpr std::uint64_t kEpoch = 2000, kSessionEpoch = 1000;
  Instant now = Instant() + Duration::seconds(1);
  ReceptionFrame told;  // the last RECEPTION frame that arrived

 private:
  Session& session_;
  std::uint32_t next_ = 0;
};

struct ReceptionSessionTest : ::testing::Test {
  StreamSource& source() {
    struct Silent final : StreamSource {
      void produce(StreamId, std::uint32_t, Instant) override {}
    };
    static Silent silent;
    return silent;
  }
  End make() {
    EndConfig config;
    config.session.boot_epoch = HandMadePeer::kSessionEpoch;
    return End(config, source(), Instant());
  }
  static void ask(ByteWriter& out) { write_ping(out, {0}); }
};

TEST_F(ReceptionSessionTest, AReportTellsHowItsGatewayHasFared) {
  End end = make();
  HandMadePeer peer(end.session(), kCapabilityRepair | kCapabilityReception);
  using enum FrameType;
  peer.say(ask, {Duration::milliseconds(50), 7});
  EXPECT_EQ(peer.hear(), (std::vector{kReception, kFeedback}));
  EXPECT_EQ(peer.told.waited_us, 50'000U);
  EXPECT_EQ(peer.told.missed, 0U) << "before the session";
  EXPECT_EQ(end.session().counters().late_reports_out, 1U);
  peer.now += Duration::seconds(1);
  peer.say(ask, {Duration::zero(), 7});
  EXPECT_EQ(peer.hear(), std::vector{kFeedback});
  peer.now += Duration::seconds(1);
  peer.say(ask, {Duration::zero(), 9});
  EXPECT_EQ(peer.hear(), (std::vector{kReception, kFeedback}));
  EXPECT_EQ(peer.told.waited_us, 0U);
  EXPECT_EQ(peer.told.missed, 2U);
}

// The build before takes an unknown frame for one that asks for a report.
TEST_F(ReceptionSessionTest, APeerThatDoesNotOfferItIsNeverToldSo) {
  for (const std::uint32_t offered : {0U, kCapabilityRepair, ~kCapabilityReception}) {
    End end = make();
    HandMadePeer peer(end.session(), offered);
    for (std::uint64_t i = 0; i < 5; ++i) {
      peer.now += Duration::seconds(1);
      peer.say(ask, {Duration::milliseconds(50), 7 + i});
      EXPECT_EQ(peer.hear(), std::vector{FrameType::kFeedback});
    }
    EXPECT_EQ(end.session().counters().late_reports_out, 0U);
  }
}

TEST_F(ReceptionSessionTest, WhatIsHeardIsNoReasonToReport) {
  End end = make();
  HandMadePeer peer(end.session(), kCapabilityReception);
  peer.hear();
  peer.now += Duration::seconds(1);
  peer.say([](ByteWriter& out) { write_reception(out, {5, 50'000}); });
  EXPECT_EQ(peer.hear(), std::vector<FrameType>());
  EXPECT_EQ(end.session().counters().late_reports_in, 1U);
  EXPECT_EQ(end.session().counters().unknown_frames, 0U);
}

}  // namespace
}  // namespace satrelay::stp::test::session_test
