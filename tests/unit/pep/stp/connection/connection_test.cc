// HELLOs change the state of the peer, or a counter says why they do not.
#include "pep/stp/connection/connection.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "relay/sim/adversaries/hello_packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::connection_test {
namespace {

using Change = Connection::Change;

constexpr std::uint64_t kOurEpoch = 1'000, kPeerEpoch = 2'000;

HelloFrame peer_frame() {
  HelloFrame frame;
  frame.minimum_version = frame.maximum_version = kVersion;
  frame.epoch = kPeerEpoch;
  frame.datagram_size = 1472;
  return frame;
}

class ConnectionTest : public ::testing::Test {
 protected:
  explicit ConnectionTest(std::optional<Security> secret = std::nullopt)
      : security_(std::move(secret)),
        connection({.handshake = {.epoch = kOurEpoch,
                                  .datagram_size = 1472,
                                  .encrypts = security_.has_value()},
                    .lane = 0,
                    .security = security_,
                    .hello_budget = nullptr,
                    .budget_peer = 0,
                    .octets = {},
                    .suspect_after = Duration::seconds(5)},
                   counters, now) {}
  Connection::Heard hear(ConstBytes packet) {
    return connection.handle_hello(packet, *parse_header(packet), situation);
  }
  Connection::Heard hear(const HelloFrame& frame) {
    PacketHeader header;
    header.number = ++number;
    return hear(sim::write_hello_packet(header, frame));
  }
  // The HELLO of a peer that has received ours.
  static HelloFrame answer() {
    HelloFrame frame = peer_frame();
    frame.peer_epoch = kOurEpoch;
    return frame;
  }

  Instant now = Instant::from_nanoseconds(1'700'000'000'000'000'000);
  Connection::Situation situation{.now = now};
  std::uint32_t number = 0;
  Counters counters;
  std::optional<Security> security_;
  Connection connection;
};

TEST_F(ConnectionTest, AProofBeginsASession) {
  EXPECT_EQ(connection.state(), PeerState::kConnecting);
  EXPECT_EQ(hear(peer_frame()).change, Change::kNewcomer);
  EXPECT_TRUE(connection.has_newcomer());
  EXPECT_FALSE(connection.connected());
  const Connection::Heard heard = hear(answer());
  EXPECT_EQ(heard.change, Change::kBegun);
  EXPECT_FALSE(heard.has_restarted);
  EXPECT_TRUE(connection.is_alive());
  EXPECT_EQ(connection.peer().epoch, kPeerEpoch);
  EXPECT_FALSE(connection.has_newcomer());
  EXPECT_EQ(hear(answer()).change, Change::kHeard);
  EXPECT_EQ(counters.newcomers, 1U);
}

TEST_F(ConnectionTest, OnlyTheFirstOfSeveralNewcomersIsAChange) {
  HelloFrame frame = peer_frame();
  EXPECT_EQ(hear(frame).change, Change::kNewcomer);
  ++frame.epoch;
  EXPECT_EQ(hear(frame).change, Change::kNothing);
  EXPECT_EQ(counters.newcomers, 2U);
}

TEST_F(ConnectionTest, AnotherBootRestartsTheSession) {
  hear(answer());
  HelloFrame frame = answer();
  ++frame.epoch;
  const Connection::Heard heard = hear(frame);
  EXPECT_EQ(heard.change, Change::kBegun);
  EXPECT_TRUE(heard.has_restarted);
  EXPECT_EQ(counters.peer_restarts, 1U);
}

TEST_F(ConnectionTest, APeerThatAsksForAnAnswerWantsAProof) {
  HelloFrame frame = answer();
  frame.answer_wanted = true;
  EXPECT_TRUE(hear(frame).wants_proof);
}

TEST_F(ConnectionTest, AnEchoIsASampleOfTheRoundTrip) {
  connection.make_hello(0, now);
  situation.now = now + Duration::milliseconds(600);
  HelloFrame frame = answer();
  frame.echo = 1;
  EXPECT_EQ(hear(frame).rtt, Duration::milliseconds(600));
}

TEST_F(ConnectionTest, AHelloThatWasChangedOnTheWayIsCountedAsSuch) {
  auto packet = sim::write_hello_packet({}, peer_frame());
  packet[kHeaderSize + 8] ^= std::byte{1};
  EXPECT_EQ(hear(packet).change, Change::kNothing);
  EXPECT_EQ(counters.bad_crc, 1U);
}

TEST_F(ConnectionTest, APacketWithoutAHelloIsMalformed) {
  auto packet = sim::write_hello_packet({}, peer_frame());
  packet[kHeaderSize] = std::byte{0};
  SessionSeal().close(packet);
  EXPECT_EQ(hear(packet).change, Change::kNothing);
  EXPECT_EQ(counters.malformed, 1U);
}

TEST_F(ConnectionTest, NoHelloIsReadWhileOldStreamsCannotBeFreed) {
  situation.may_begin = false;
  EXPECT_EQ(hear(answer()).change, Change::kNothing);
  EXPECT_EQ(counters.hellos_unread, 1U);
}

TEST_F(ConnectionTest, AnOlderBootThanThePeersIsStale) {
  hear(answer());
  HelloFrame frame = answer();
  --frame.epoch;
  EXPECT_EQ(hear(frame).change, Change::kNothing);
  EXPECT_EQ(counters.stale_epoch, 1U);
  connection.suspect();
  EXPECT_EQ(hear(frame).change, Change::kNothing) << "the path was not silent for long";
  situation.is_silent = true;
  EXPECT_EQ(hear(frame).change, Change::kBegun) << "its clock was set back";
}

TEST_F(ConnectionTest, AMismatchIsShownUntilAPeerIsThere) {
  HelloFrame frame = peer_frame();
  frame.lane_count = 2;
  hear(frame);
  EXPECT_EQ(counters.lanes_mismatch, 1U);
  EXPECT_EQ(connection.state(), PeerState::kRefused);
  frame.encrypts = true;
  hear(frame);
  EXPECT_EQ(counters.security_mismatch, 1U);
  frame.maximum_version = frame.minimum_version = kVersion + 1;
  hear(frame);
  EXPECT_EQ(counters.version_mismatch, 1U);
  hear(peer_frame());
  EXPECT_EQ(connection.state(), PeerState::kConnecting);
  hear(frame);
  EXPECT_EQ(connection.state(), PeerState::kConnecting) << "a newcomer is there";
}

TEST_F(ConnectionTest, APeerThatHasClosedMayComeWithAnotherBootOnly) {
  hear(answer());
  connection.close_by_peer();
  EXPECT_EQ(connection.state(), PeerState::kClosed);
  EXPECT_FALSE(connection.has_closed());
  hear(answer());
  EXPECT_EQ(counters.stale_epoch, 1U);
  HelloFrame frame = answer();
  ++frame.epoch;
  const Connection::Heard heard = hear(frame);
  EXPECT_EQ(heard.change, Change::kBegun);
  EXPECT_FALSE(heard.has_restarted) << "there was no session until now";
}

TEST_F(ConnectionTest, NoHelloIsReadOnceWeHaveClosed) {
  hear(answer());
  connection.close(7);
  EXPECT_TRUE(connection.has_closed());
  EXPECT_EQ(connection.close_sequence().number(), 7U);
  HelloFrame frame = answer();
  ++frame.epoch;
  EXPECT_EQ(hear(frame).change, Change::kNothing);
  EXPECT_EQ(counters.stale_epoch, 1U);
}

class SealedConnectionTest : public ConnectionTest {
 protected:
  SealedConnectionTest() : ConnectionTest(security()) {}
};

TEST_F(SealedConnectionTest, OurOwnHelloThatComesBackIsStale) {
  HelloFrame frame = peer_frame();
  frame.epoch = kOurEpoch;
  frame.encrypts = true;
  hear(frame);
  EXPECT_EQ(counters.stale_epoch, 1U);
}

TEST_F(SealedConnectionTest, AHelloInTheClearIsRefused) {
  hear(answer());
  EXPECT_EQ(counters.security_mismatch, 1U);
  EXPECT_EQ(connection.state(), PeerState::kRefused);
}

TEST_F(SealedConnectionTest, AHelloWithoutKeysIsNoProof) {
  HelloFrame frame = answer();
  frame.encrypts = true;
  EXPECT_EQ(hear(frame).change, Change::kNothing);
  EXPECT_EQ(counters.stale_epoch, 1U);
  EXPECT_FALSE(connection.connected());
}

TEST_F(SealedConnectionTest, AnotherCreditIsPromisedInAnotherOffer) {
  connection.promise(1'000);
  const auto offer = [&] {
    const ConstBytes bytes = connection.make_hello(0, now).keys.offer;
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const auto first = offer();
  EXPECT_EQ(offer(), first);
  connection.promise(1'000);
  EXPECT_EQ(offer(), first);
  connection.promise(2'000);
  EXPECT_NE(offer(), first);
}

}  // namespace
}  // namespace satrelay::stp::test::connection_test
