// Sessions that encrypt, and attacks on them: packets that are changed, replayed, sent back, cut,
// forged or too many.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/hello_packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::security_test {
namespace {

using Packet = std::vector<std::byte>;

class SecurityTest : public ::testing::Test {
 protected:
  SecurityTest()
      : net(end_config(true, Sealed::kByKey), end_config(false, Sealed::kByKey),
            Duration::milliseconds(275), {}, 1) {}
  void connect() { ASSERT_TRUE(net.connect()); }
  // Keeps each packet that `end` sends from now on.
  void record(int end) {
    net.on_packet = [this, end](int from, ConstBytes packet) {
      if (from == end) recorded.emplace_back(packet.begin(), packet.end());
    };
  }
  static bool is_hello(ConstBytes packet) {
    return parse_header(packet)->type == PacketType::kHello;
  }
  // The offer in a HELLO that has one.
  static MutableBytes offer_in(MutableBytes hello) {
    const std::size_t at = kHeaderSize + kHelloFrameSize;
    return hello.subspan(at + 2, load_u16(hello.data() + at));
  }
  // Whether `text` can be read in the packet.
  static bool shows(ConstBytes packet, ConstBytes text) {
    return std::search(packet.begin(), packet.end(), text.begin(), text.end()) != packet.end();
  }
  void expect_works() {
    const std::uint64_t before = net.apps[0].finished_flows;
    ASSERT_TRUE(net.apps[0].open(50'000, 50'000, net.now));
    EXPECT_TRUE(
        net.run(Duration::seconds(20), [&] { return net.apps[0].finished_flows == before + 1; }));
    EXPECT_EQ(net.error(), "");
  }
  // The peer epoch in the next HELLO of end 1; 0: none.
  std::uint64_t named_in_hello() {
    std::byte packet[2000];
    const std::size_t size = net.session(1).poll_packet(packet, net.now);
    ByteReader in(frames_of(ConstBytes(packet).first(size)));
    in.u8();
    HelloKeys keys;
    return parse_hello(in, keys).peer_epoch;
  }
  Network net;
  std::vector<Packet> recorded;
};

TEST_F(SecurityTest, NothingOfAFlowTravelsInTheClear) {
  connect();
  record(0);
  const auto id = net.apps[0].open(3'000, 0, net.now);
  ASSERT_TRUE(id);
  ASSERT_TRUE(net.run(Duration::seconds(5), [&] { return net.apps[1].finished_flows == 1; }));
  std::byte text[16];
  for (std::size_t i = 0; i < sizeof text; ++i) {
    text[i] = stream_byte(static_cast<std::uint64_t>(*id), true, i);
  }
  ASSERT_GT(recorded.size(), 2U);
  for (const Packet& packet : recorded) EXPECT_FALSE(shows(packet, text));
}

TEST_F(SecurityTest, NoBitOfASessionPacketCanBeChanged) {
  connect();
  record(0);
  ASSERT_TRUE(net.apps[0].open(200, 0, net.now));
  net.channels[0].outage = true;  // the genuine packets do not arrive
  net.run(Duration::milliseconds(300));
  ASSERT_FALSE(recorded.empty());
  const Counters before = net.session(1).counters();
  std::uint64_t flips = 0;
  for (std::size_t bit = 0; bit < recorded[0].size() * 8; ++bit, ++flips) {
    Packet changed = recorded[0];
    changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    net.session(1).handle_packet(changed, net.now);
  }
  const Counters& after = net.session(1).counters();
  EXPECT_EQ(net.session(1).streams().count(), 0U);
  EXPECT_EQ(after.streams_accepted, before.streams_accepted);
  EXPECT_EQ(after.stream_bytes_in, before.stream_bytes_in);
  const auto refused = [](const Counters& c) {
    return c.not_authentic + c.malformed + c.stale_epoch + c.version_mismatch + c.bad_crc +
           c.duplicate_packets_in;
  };
  EXPECT_EQ(refused(after) - refused(before), flips);  // each kind of refusal has a counter
  // The genuine packet is still accepted.
  net.session(1).handle_packet(recorded[0], net.now);
  EXPECT_EQ(net.session(1).streams().count(), 1U);
  EXPECT_TRUE(net.both_alive());
}

TEST_F(SecurityTest, NoBitOfAHelloCanBeChanged) {
  net.start(0, 1000);
  net.start(1, 2000);
  record(0);
  net.settle();
  ASSERT_TRUE(is_hello(recorded.at(0)));
  net.channels[0].flush();
  net.channels[1].flush();
  // The changed HELLO gets a correct checksum, as a forger would compute it.
  const Packet genuine = recorded[0];
  int taken = 0;
  for (std::size_t bit = 0; bit < (genuine.size() - kTrailerSize) * 8; ++bit) {
    net.now += Duration::milliseconds(2);
    net.start(1, 2000);
    Packet changed = genuine;
    changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    SessionSeal().close(changed);
    net.session(1).handle_packet(changed, net.now);
    const std::uint64_t greeted = named_in_hello();
    taken += greeted != 0 ? 1 : 0;
    EXPECT_TRUE(greeted == 0 || greeted == 1000);
  }
  // Two kinds of bits may change: those of fields that may change while an offer is repeated, and
  // those of fields that are read from the sealed copy only. Every other change is refused.
  EXPECT_LT(taken, static_cast<int>(kHelloFrameSize + kHeaderSize) * 8);
  net.start(1, 2000);
  net.session(1).handle_packet(genuine, net.now);
  EXPECT_EQ(named_in_hello(), 1000U);
}

TEST_F(SecurityTest, WhatIsPlayedAgainHasNoEffect) {
  connect();
  record(0);
  expect_works();
  net.on_packet = nullptr;
  net.run(Duration::seconds(2));
  std::erase_if(recorded, is_hello);
  const Counters before = net.session(1).counters();
  for (const Packet& packet : recorded) net.session(1).handle_packet(packet, net.now);
  const Counters& after = net.session(1).counters();
  EXPECT_EQ(after.duplicate_packets_in - before.duplicate_packets_in, recorded.size());
  EXPECT_EQ(after.streams_accepted, before.streams_accepted);
  EXPECT_EQ(after.not_authentic, before.not_authentic);
  expect_works();
}

TEST_F(SecurityTest, ReplaysDoNotHideAnOutage) {
  connect();
  record(0);
  expect_works();
  net.on_packet = nullptr;
  net.channels[0].outage = net.channels[1].outage = true;
  for (int i = 0; i < 100; ++i) {
    net.run(Duration::milliseconds(50));
    for (const Packet& packet : recorded) net.session(1).handle_packet(packet, net.now);
  }
  EXPECT_EQ(net.session(1).peer_state(), PeerState::kSuspect);
}

TEST_F(SecurityTest, WhatIsSentBackHasNoEffect) {
  record(0);
  connect();
  expect_works();
  net.on_packet = nullptr;
  const Counters before = net.session(0).counters();
  for (const Packet& packet : recorded) net.session(0).handle_packet(packet, net.now);
  const Counters& after = net.session(0).counters();
  EXPECT_EQ(after.streams_accepted, before.streams_accepted);
  EXPECT_EQ(after.packets_in - before.packets_in,
            after.stale_epoch - before.stale_epoch + after.not_authentic - before.not_authentic);
  EXPECT_EQ(net.session(0).peer_epoch(), 2000U);
  expect_works();
}

TEST_F(SecurityTest, AGreetingSentBackIsNoPeer) {
  net.start(0, 1000);
  record(0);
  for (int i = 0; i < 5; ++i) {
    net.run(Duration::seconds(1));
    for (const Packet& packet : recorded) net.session(0).handle_packet(packet, net.now);
  }
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kConnecting);
  EXPECT_EQ(net.session(0).peer_epoch(), 0U);
}

TEST_F(SecurityTest, AnotherSecretConnectsNobody) {
  net.configs[1].session.security->psk.bytes()[31] ^= std::byte{1};
  net.start(0, 1000);
  net.start(1, 2000);
  EXPECT_FALSE(net.run(Duration::seconds(20), [&] {
    return net.session(0).peer_state() == PeerState::kAlive ||
           net.session(1).peer_state() == PeerState::kAlive;
  }));
  EXPECT_GT(net.session(0).counters().not_authentic, 10U);
  EXPECT_GT(net.session(1).counters().not_authentic, 10U);
  EXPECT_LT(net.channels[0].sent, 40U);
  for (int end = 0; end < 2; ++end) EXPECT_TRUE(net.session(end).doubts_key(net.now)) << end;
  // The gateway with the wrong key is gone.
  net.stop(1);
  net.run(Duration::seconds(40));
  EXPECT_FALSE(net.session(0).doubts_key(net.now));
  net.configs[1].session.security = security();
  net.start(1, 3000);
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] { return net.both_alive(); }));
}

// A closed session sends no HELLOs, so it doubts no peer's key.
TEST_F(SecurityTest, WhoHasClosedDoubtsNobody) {
  net.configs[1].session.security->psk.bytes()[31] ^= std::byte{1};
  net.start(0, 1000);
  net.start(1, 2000);
  ASSERT_TRUE(net.run(Duration::seconds(20), [&] { return net.session(0).doubts_key(net.now); }));
  net.session(0).close(net.now);
  EXPECT_FALSE(net.session(0).doubts_key(net.now));
  net.run(Duration::seconds(5));
  EXPECT_FALSE(net.session(0).doubts_key(net.now));
}

TEST_F(SecurityTest, APeerThatComesBackWithAnotherSecretIsDoubtedOnceItIsMissed) {
  connect();
  net.run(Duration::seconds(5));
  EXPECT_FALSE(net.session(0).doubts_key(net.now));
  net.stop(1);
  net.configs[1].session.security->psk.bytes()[31] ^= std::byte{1};
  net.start(1, 3000);
  net.run(Duration::seconds(2));
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kAlive);
  EXPECT_FALSE(net.session(0).doubts_key(net.now))
      << "a forger must not make an alive peer look wrong";
  EXPECT_TRUE(net.run(Duration::seconds(5), [&] { return net.session(0).doubts_key(net.now); }));
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kSuspect);
}

// A peer that has closed in order gets no more HELLOs. So only time shows that the gateway in its
// place, with another secret, is gone as well.
TEST_F(SecurityTest, APeerThatStoppedAndComesBackWithAnotherSecretIsDoubtedForAWhile) {
  connect();
  net.session(1).close(net.now);
  net.run(Duration::seconds(2));
  ASSERT_EQ(net.session(0).peer_state(), PeerState::kClosed);
  net.stop(1);
  net.configs[1].session.security->psk.bytes()[31] ^= std::byte{1};
  net.start(1, 3000);
  EXPECT_TRUE(net.run(Duration::seconds(5), [&] { return net.session(0).doubts_key(net.now); }));
  net.stop(1);
  net.run(Duration::seconds(40));
  EXPECT_FALSE(net.session(0).doubts_key(net.now));
}

TEST_F(SecurityTest, TheSecretChangesWithoutAMomentWithoutOne) {
  Security both = security();
  crypto::Psk next = both.psk;
  next.bytes()[0] ^= std::byte{0xff};
  // One end uses the next secret already, the other end still the old one. Each understands both.
  net.configs[0].session.security->other = next;
  net.configs[1].session.security->other = net.configs[1].session.security->psk;
  net.configs[1].session.security->psk = next;
  connect();
  expect_works();
}

TEST_F(SecurityTest, WhoDoesNotEncryptIsRefused) {
  net.configs[1].session.security.reset();
  net.start(0, 1000);
  net.start(1, 2000);
  net.run(Duration::seconds(5));
  for (int end = 0; end < 2; ++end) {
    EXPECT_EQ(net.session(end).peer_state(), PeerState::kRefused) << end;
    EXPECT_GT(net.session(end).counters().security_mismatch, 0U) << end;
  }
  EXPECT_LT(net.channels[0].sent, 20U);
  // Once encryption is configured, the two ends meet.
  net.configs[1].session.security = security();
  net.stop(1);
  net.start(1, 3000);
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] { return net.both_alive(); }));
}

TEST_F(SecurityTest, WhoBelievesInAnotherNumberOfLanesIsRefused) {
  for (const std::uint8_t lanes : {std::uint8_t{2}, std::uint8_t{255}}) {
    net.configs[1].session.lane_count = lanes;
    net.start(0, 1000);
    net.start(1, 2000);
    net.run(Duration::seconds(5));
    for (int end = 0; end < 2; ++end) {
      EXPECT_EQ(net.session(end).peer_state(), PeerState::kRefused) << end;
      EXPECT_GT(net.session(end).counters().lanes_mismatch, 0U) << end;
      EXPECT_EQ(net.session(end).counters().version_mismatch, 0U) << end;
    }
    net.stop(0);
    net.stop(1);
  }
  // Once both ends have the same number of lanes, they meet.
  net.configs[1].session.lane_count = 1;
  net.start(0, 3000);
  net.start(1, 4000);
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] { return net.both_alive(); }));
}

TEST_F(SecurityTest, APeerThatComesBackWithoutEncryptionIsTold) {
  connect();
  net.stop(1);
  net.configs[1].session.security.reset();
  net.start(1, 3000);
  ASSERT_TRUE(net.run(Duration::seconds(3),
                      [&] { return net.session(1).peer_state() == PeerState::kRefused; }));
  EXPECT_TRUE(net.run(Duration::seconds(1), [&] {
    return net.session(0).counters().security_mismatch > 0 &&
           net.session(1).counters().security_mismatch > 0;
  }));
  // The peer of the old session is missed, and no other peer takes its place.
  EXPECT_TRUE(net.run(Duration::seconds(5),
                      [&] { return net.session(0).peer_state() == PeerState::kSuspect; }));
  EXPECT_EQ(net.apps[0].restarts, 0);
}

TEST_F(SecurityTest, NobodyTalksAnEndOutOfASession) {
  connect();
  // HELLOs of a newer boot, of this version and of another, that say that they encrypt or that they
  // do not.
  for (const bool encrypts : {false, true}) {
    for (const std::uint8_t version : {std::uint8_t{1}, std::uint8_t{9}}) {
      HelloFrame hello;
      hello.minimum_version = hello.maximum_version = version;
      hello.epoch = 9000;
      hello.peer_epoch = 1000;
      hello.encrypts = encrypts;
      net.session(0).handle_packet(sim::write_hello_packet({.number = 1}, hello), net.now);
    }
  }
  EXPECT_EQ(net.session(0).peer_epoch(), 2000U);
  EXPECT_TRUE(net.both_alive());
  expect_works();
}

TEST_F(SecurityTest, TruncatedAndOversizedPacketsAreCounted) {
  connect();
  record(0);
  ASSERT_TRUE(net.apps[0].open(5'000, 0, net.now));
  net.run(Duration::milliseconds(100));
  std::erase_if(recorded, is_hello);
  ASSERT_FALSE(recorded.empty());
  const Packet packet = recorded.back();
  const Counters before = net.session(1).counters();
  std::uint64_t sent = 0;
  for (std::size_t size = 0; size < packet.size(); ++size, ++sent) {
    net.session(1).handle_packet(ConstBytes(packet).first(size), net.now);
  }
  for (const std::size_t more : {1U, 100U, 10'000U, 60'000U}) {
    Packet longer(packet.size() + more);
    std::copy(packet.begin(), packet.end(), longer.begin());
    net.session(1).handle_packet(longer, net.now);
    ++sent;
  }
  const Counters& after = net.session(1).counters();
  EXPECT_EQ(after.malformed + after.not_authentic - before.malformed - before.not_authentic, sent);
  net.on_packet = nullptr;
  expect_works();
}

// Offers of a sender without the secret cost no memory and get no answers.
TEST_F(SecurityTest, AFloodOfGreetingsIsNotAnswered) {
  connect();
  record(0);
  net.stop(0);
  net.start(0, 3000);
  net.settle();
  ASSERT_TRUE(is_hello(recorded.at(0)));
  net.stop(0);
  Packet greeting = recorded[0];
  net.channels[0].flush();
  const std::uint64_t sent = net.channels[1].sent;
  Random random(5);
  for (int i = 0; i < 50'000; ++i) {
    // A new key each time, so that no offer can be recognized as a known one.
    for (std::byte& octet : offer_in(greeting)) octet = static_cast<std::byte>(random.next());
    SessionSeal().close(greeting);
    net.session(1).handle_packet(greeting, net.now);
    if (i % 100 == 0) net.run(Duration::milliseconds(1));
  }
  const Counters& c = net.session(1).counters();
  EXPECT_EQ(c.not_authentic, 50'000U);
  EXPECT_LT(net.channels[1].sent - sent, 10U);  // its own PINGs
  EXPECT_EQ(net.session(1).peer_epoch(), 1000U);
}

// An old HELLO, recorded in an earlier boot of the peer, is not taken for the peer, whether the
// path is silent or not.
TEST_F(SecurityTest, AnOldGreetingEndsNoSession) {
  record(0);
  connect();
  const std::vector<Packet> old = recorded;
  net.stop(0);
  net.start(0, 4000);
  ASSERT_TRUE(net.run(Duration::seconds(5), [&] { return net.apps[1].restarts == 1; }));
  ASSERT_TRUE(net.run(Duration::seconds(5), [&] { return net.both_alive(); }));
  ASSERT_TRUE(net.apps[0].open(50'000'000, 0, net.now));
  net.run(Duration::seconds(2));
  const auto play = [&] {
    for (const Packet& packet : old) net.session(1).handle_packet(packet, net.now);
  };
  play();
  net.channels[0].outage = net.channels[1].outage = true;
  for (int i = 0; i < 20; ++i) {
    net.run(Duration::milliseconds(500));
    play();
  }
  EXPECT_EQ(net.session(1).peer_state(), PeerState::kSuspect);
  EXPECT_EQ(net.session(1).streams().count(), 1U);
  net.channels[0].outage = net.channels[1].outage = false;
  ASSERT_TRUE(net.run(Duration::seconds(5), [&] { return net.both_alive(); }));
  EXPECT_EQ(net.apps[1].restarts, 1);
  EXPECT_EQ(net.session(1).peer_epoch(), 4000U);
  EXPECT_TRUE(net.run(Duration::seconds(60), [&] { return net.apps[1].finished_flows == 1; }));
  EXPECT_EQ(net.error(), "");
}

TEST_F(SecurityTest, KeysFollowEachOtherUnderLoadWithoutAStall) {
  for (EndConfig& config : net.configs) {
    config.session.security->packets_per_key = 3'000;  // about a second
    config.session.security->time_per_key = Duration::seconds(2);
  }
  for (Channel& channel : net.channels) {
    channel.set_faults({.loss = 0.05, .duplicate = 0.01, .reorder = 0.05});
  }
  connect();
  ASSERT_TRUE(net.apps[0].open(20'000'000, 20'000'000, net.now));
  const Instant start = net.now;
  ASSERT_TRUE(net.run(Duration::seconds(60), [&] { return net.apps[0].finished_flows == 1; }))
      << net.error();
  const Duration with = net.now - start;
  // Each end has switched to the last key of the other, though the next key may follow at any time.
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] {
    return net.session(0).counters().keys_in == net.session(1).counters().keys_out &&
           net.session(1).counters().keys_in == net.session(0).counters().keys_out;
  }));
  EXPECT_GE(net.session(0).counters().keys_out, 4U);
  for (int end = 0; end < 2; ++end) EXPECT_EQ(net.session(end).counters().not_authentic, 0U);
  EXPECT_EQ(net.error(), "");
  // The same without a change of keys.
  Network other(end_config(true, Sealed::kByKey), end_config(false, Sealed::kByKey),
                Duration::milliseconds(275), {}, 1);
  for (Channel& channel : other.channels) {
    channel.set_faults({.loss = 0.05, .duplicate = 0.01, .reorder = 0.05});
  }
  ASSERT_TRUE(other.connect());
  ASSERT_TRUE(other.apps[0].open(20'000'000, 20'000'000, other.now));
  const Instant begin = other.now;
  ASSERT_TRUE(other.run(Duration::seconds(60), [&] { return other.apps[0].finished_flows == 1; }));
  EXPECT_EQ(other.session(0).counters().keys_out, 0U);
  EXPECT_LT(with.to_seconds(), (other.now - begin).to_seconds() * 1.01);
}

// No key is used for more packets than allowed, whatever is lost.
TEST_F(SecurityTest, AKeyThatThePeerNeverHearsOfIsNotWornOut) {
  net.configs[0].session.security->packets_per_key = 100;
  connect();
  ASSERT_TRUE(net.apps[0].open(50'000'000, 0, net.now));
  net.run(Duration::milliseconds(700));
  record(0);
  net.channels[1].outage = true;  // no report arrives
  net.run(Duration::seconds(60));
  std::map<bool, int> by_phase;
  for (const Packet& packet : recorded) ++by_phase[parse_header(packet)->key_phase];
  EXPECT_LE(by_phase[false], 200);
  EXPECT_LE(by_phase[true], 200);
  net.on_packet = nullptr;
  net.channels[1].outage = false;
  EXPECT_TRUE(net.run(Duration::seconds(120), [&] { return net.apps[1].finished_flows == 1; }));
}

}  // namespace
}  // namespace satrelay::stp::test::security_test
