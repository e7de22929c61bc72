// How a session finds its peer and notices its end: starts in any order, restarts, old packets,
// strangers, silence and CLOSE.
#include <gtest/gtest.h>

#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/hello_packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::handshake_test {
namespace {

class HandshakeTest : public ::testing::TestWithParam<Sealed> {
 protected:
  HandshakeTest()
      : net(end_config(true, GetParam()), end_config(false, GetParam()),
            Duration::milliseconds(275), {}, 1) {}
  void connect() { ASSERT_TRUE(net.connect()); }
  Network net;
};

TEST_P(HandshakeTest, TakesOneAndAHalfRoundTripsAtMost) {
  net.start(0, 1000);
  net.start(1, 2000);
  const Instant start = net.now;
  ASSERT_TRUE(net.run(Duration::seconds(3), [&] { return net.both_alive(); }));
  EXPECT_LE((net.now - start).to_milliseconds(), 3 * 275 + 1);
}

TEST_P(HandshakeTest, WorksWhenTheOtherSideStartsLater) {
  net.start(1, 2000);
  net.run(Duration::seconds(17));
  EXPECT_EQ(net.session(1).peer_state(), PeerState::kConnecting);
  EXPECT_FALSE(net.session(1).streams().open({}, 0, net.now));
  net.start(0, 1000);
  ASSERT_TRUE(net.run(Duration::seconds(2), [&] { return net.both_alive(); }));
}

TEST_P(HandshakeTest, SurvivesHeavyLoss) {
  for (Channel& channel : net.channels) channel.set_faults({.loss = 0.7});
  net.start(0, 1000);
  net.start(1, 2000);
  EXPECT_TRUE(net.run(Duration::seconds(120), [&] { return net.both_alive(); }));
}

TEST_P(HandshakeTest, ARestartIsRecognisedWithinOneAndAHalfRoundTrips) {
  connect();
  net.apps[0].open(50'000'000, 0, net.now);
  net.run(Duration::seconds(3));
  EXPECT_GT(net.apps[1].bytes_read, 0U);
  net.stop(1);
  net.run(Duration::milliseconds(500));
  net.start(1, 3000);
  const Instant restart = net.now;
  ASSERT_TRUE(net.run(Duration::seconds(3), [&] { return net.apps[0].restarts == 1; }));
  EXPECT_LE((net.now - restart).to_milliseconds(), 825);
  EXPECT_EQ(net.session(0).streams().count(), 0U);
  EXPECT_EQ(net.ends[0]->arena().used_blocks(), 0U);
  ASSERT_TRUE(net.run(Duration::seconds(3), [&] { return net.both_alive(); }));
  EXPECT_EQ(net.session(0).peer_epoch(), 3000U);
  EXPECT_EQ(net.apps[0].alive, 2);
  EXPECT_EQ(net.session(0).counters().peer_restarts, 1U);
  // The new session works, and the stream ids continue after the last one.
  const auto id = net.apps[0].open(10'000, 10'000, net.now);
  ASSERT_TRUE(id);
  EXPECT_EQ(static_cast<std::uint64_t>(*id), 2U);
  EXPECT_TRUE(net.run(Duration::seconds(5), [&] { return net.apps[0].finished_flows == 1; }));
  EXPECT_EQ(net.error(), "");
}

TEST_P(HandshakeTest, ARestartIsRecognisedEvenIfItsHellosAreLost) {
  connect();
  net.apps[0].open(50'000'000, 0, net.now);
  net.run(Duration::seconds(3));
  net.channels[1].outage = true;
  net.stop(1);
  net.start(1, 3000);
  net.run(Duration::milliseconds(150));
  // Data that still arrives makes the restarted gateway send a HELLO again.
  net.channels[1].outage = false;
  const Instant restart = net.now;
  ASSERT_TRUE(net.run(Duration::seconds(3), [&] { return net.apps[0].restarts == 1; }));
  // A session answers strangers once in 50 ms at most.
  EXPECT_LE((net.now - restart).to_milliseconds(), 825 + 50);
  EXPECT_GT(net.session(1).counters().stale_epoch, 0U);
}

TEST_P(HandshakeTest, AnOldSessionsPacketsAreCountedAndHarmless) {
  connect();
  std::vector<std::vector<std::byte>> old;
  net.on_packet = [&](int end, ConstBytes packet) {
    if (end == 1) old.emplace_back(packet.begin(), packet.end());
  };
  net.apps[1].open(20'000, 0, net.now);
  net.run(Duration::seconds(2));
  net.on_packet = nullptr;
  net.stop(1);
  net.start(1, 3000);
  ASSERT_TRUE(net.run(Duration::seconds(3), [&] { return net.apps[0].restarts == 1; }));
  net.run(Duration::seconds(2));
  ASSERT_GT(old.size(), 5U);
  for (const auto& packet : old) net.session(0).handle_packet(packet, net.now);
  net.apps[0].handle_events(net.now);
  const Counters& c = net.session(0).counters();
  EXPECT_EQ(c.stale_epoch + c.hellos_repeated, old.size());
  EXPECT_EQ(net.apps[0].restarts, 1);
  EXPECT_EQ(net.session(0).streams().count(), 0U);
  net.run(Duration::seconds(5));
  EXPECT_TRUE(net.both_alive());
}

TEST_P(HandshakeTest, AnOldHelloDoesNotEndTheSession) {
  std::vector<std::byte> old_hello;
  net.on_packet = [&](int end, ConstBytes packet) {
    if (end == 1 && old_hello.empty()) old_hello.assign(packet.begin(), packet.end());
  };
  connect();
  net.stop(1);
  net.start(1, 3000);
  ASSERT_TRUE(net.run(Duration::seconds(3), [&] { return net.apps[0].restarts == 1; }));
  const int restarts = net.apps[0].restarts;
  net.session(0).handle_packet(old_hello, net.now);
  net.run(Duration::seconds(2));
  EXPECT_EQ(net.apps[0].restarts, restarts);
  EXPECT_EQ(net.session(0).peer_epoch(), 3000U);
  EXPECT_TRUE(net.both_alive());
}

TEST_P(HandshakeTest, AClockSetBackIsAcceptedOnceTheOldSelfIsSilent) {
  connect();
  net.stop(1);
  net.start(1, 500);
  ASSERT_TRUE(net.run(Duration::seconds(6), [&] { return net.apps[0].restarts == 1; }));
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] { return net.both_alive(); }));
  EXPECT_EQ(net.session(0).peer_epoch(), 500U);
}

TEST_P(HandshakeTest, TwoEndsThatClaimTheSameStreamsRefuseEachOther) {
  net.configs[1].session.opens_even_streams = true;
  net.start(0, 1000);
  net.start(1, 2000);
  net.run(Duration::seconds(5));
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kRefused);
  EXPECT_EQ(net.session(1).peer_state(), PeerState::kRefused);
  EXPECT_GT(net.session(0).counters().version_mismatch, 0U);
  EXPECT_LT(net.channels[0].sent, 20U);  // no storm of answers
  // Once the configuration is right, the two ends meet again.
  net.configs[1].session.opens_even_streams = false;
  net.stop(1);
  net.start(1, 3000);
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] { return net.both_alive(); }));
}

TEST_P(HandshakeTest, APeerOfAnotherVersionIsRefused) {
  net.start(0, 1000);
  net.run(Duration::milliseconds(10));
  HelloFrame hello;
  hello.minimum_version = 7;
  hello.maximum_version = 9;
  hello.epoch = 77;
  hello.answer_wanted = true;
  net.session(0).handle_packet(sim::write_hello_packet({.version = 9, .number = 1}, hello),
                               net.now);
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kRefused);
  EXPECT_EQ(net.session(0).counters().version_mismatch, 1U);
}

TEST_P(HandshakeTest, SilenceMakesThePeerSuspectAndAWordMakesItAlive) {
  connect();
  net.run(Duration::seconds(10));
  EXPECT_EQ(net.apps[0].suspect, 0);  // an idle peer is not silent: both ends send PING
  net.channels[0].outage = net.channels[1].outage = true;
  const Instant cut = net.now;
  ASSERT_TRUE(net.run(Duration::seconds(10),
                      [&] { return net.session(0).peer_state() == PeerState::kSuspect; }));
  EXPECT_NEAR((net.now - cut).to_seconds(), 3.0, 1.1);
  const auto waits = net.session(0).streams().open({}, 0, net.now);
  ASSERT_TRUE(waits);
  net.run(Duration::seconds(30));
  EXPECT_EQ(net.session(1).streams().count(), 0U);
  net.channels[0].outage = net.channels[1].outage = false;
  const Instant back = net.now;
  ASSERT_TRUE(net.run(Duration::seconds(5), [&] { return net.both_alive(); }));
  EXPECT_LE((net.now - back).to_milliseconds(), 650);  // one round trip and a probe interval
  EXPECT_EQ(net.apps[0].restarts + net.apps[1].restarts, 0);
  net.run(Duration::seconds(5));
  EXPECT_EQ(net.session(1).streams().count(), 1U);
}

TEST_P(HandshakeTest, IdleSessionsSayLittle) {
  connect();
  net.run(Duration::seconds(5));
  const std::uint64_t before = net.channels[0].sent;
  net.run(Duration::seconds(100));
  EXPECT_LE(net.channels[0].sent - before, 500U);
}

TEST_P(HandshakeTest, AnOutageFreezesAndResumesTheStream) {
  connect();
  const auto id = net.apps[0].open(30'000'000, 0, net.now);
  ASSERT_TRUE(id);
  net.run(Duration::seconds(2));
  net.channels[0].outage = net.channels[1].outage = true;
  net.run(Duration::seconds(2));
  const std::uint64_t sent = net.channels[0].sent;
  net.run(Duration::seconds(8));
  EXPECT_LE(net.channels[0].sent - sent, 100U);  // probes every 100 ms, and no data
  net.channels[0].outage = net.channels[1].outage = false;
  const std::uint64_t read = net.apps[1].bytes_read;
  net.run(Duration::milliseconds(550 + 100 + 275 + 100));
  EXPECT_GT(net.apps[1].bytes_read, read);
  EXPECT_TRUE(net.run(Duration::seconds(20), [&] { return net.apps[1].finished_flows == 1; }))
      << net.error();
  EXPECT_EQ(net.error(), "");
}

TEST_P(HandshakeTest, CloseEndsAllStreamsOnBothSides) {
  connect();
  net.apps[0].open(10'000'000, 10'000'000, net.now);
  net.run(Duration::seconds(2));
  net.session(0).close(net.now);
  net.run(Duration::seconds(1));
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kClosed);
  EXPECT_EQ(net.session(1).peer_state(), PeerState::kClosed);
  EXPECT_EQ(net.apps[1].peer_closed, 1);
  for (int end = 0; end < 2; ++end) {
    EXPECT_EQ(net.session(end).streams().count(), 0U);
    EXPECT_EQ(net.ends[end]->arena().used_blocks(), 0U);
  }
  // The closed gateway comes back.
  net.stop(0);
  net.start(0, 5000);
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] { return net.both_alive(); }));
  EXPECT_EQ(net.apps[1].restarts, 0);
}

TEST_P(HandshakeTest, ALostCloseIsSaidAgain) {
  connect();
  net.apps[1].open(10'000'000, 0, net.now);
  net.run(Duration::seconds(2));
  net.channels[0].outage = true;
  net.session(0).close(net.now);
  net.settle();
  net.channels[0].outage = false;
  EXPECT_TRUE(net.run(Duration::seconds(2), [&] { return net.apps[1].peer_closed == 1; }));
}

// A session that has found no peer sends no CLOSE. Packets of a stranger make a closed session
// repeat CLOSE only if they have a tag of the session.
TEST_P(HandshakeTest, OnlyAPeerIsToldFarewellAgain) {
  for (const bool connected : {false, true}) {
    if (connected) {
      connect();
    } else {
      net.start(0, 1000);
      net.run(Duration::seconds(2));
    }
    net.session(0).close(net.now);
    net.run(Duration::milliseconds(200));
    net.stop(1);
    const std::uint64_t sent = net.channels[0].sent;
    std::array<std::byte, 100> packet{};
    PacketHeader header;
    for (std::uint32_t tag = 0; tag < 0x1000; ++tag) {
      header.session_tag = static_cast<std::uint16_t>(tag);
      write_header(header, packet.data());
      net.session(0).handle_packet(packet, net.now);
      net.run(Duration::milliseconds(10));
    }
    // One of the 65,536 tags belongs to the session, or three while keys are exchanged.
    EXPECT_LE(net.channels[0].sent - sent, connected ? 3U : 0U);
  }
}

TEST_P(HandshakeTest, GarbageIsCountedAndAnsweredSeldom) {
  connect();
  net.run(Duration::seconds(2));
  Random random(3);
  const std::uint64_t sent = net.channels[0].sent;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> garbage(random.below(200));
    for (std::byte& b : garbage) b = static_cast<std::byte>(random.next());
    net.session(0).handle_packet(garbage, net.now);
    if (i % 100 == 0) net.run(Duration::milliseconds(1));
  }
  const Counters& c = net.session(0).counters();
  EXPECT_GT(c.malformed + c.stale_epoch + c.bad_crc + c.version_mismatch, 19'000U);
  EXPECT_LT(net.channels[0].sent - sent, 20U);
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kAlive);
  EXPECT_EQ(net.session(0).streams().count(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Session, HandshakeTest,
                         ::testing::Values(Sealed::kByChecksum, Sealed::kByKey),
                         [](const auto& param_info) {
                           return param_info.param == Sealed::kByKey ? "ByKey" : "ByChecksum";
                         });

}  // namespace
}  // namespace satrelay::stp::test::handshake_test
