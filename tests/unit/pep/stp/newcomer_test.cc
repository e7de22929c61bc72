// HELLOs in the peer's name: forged or replayed, with any epochs, in any number. The old session
// goes on until there is proof of a new one. And to be the peer again, the peer never needs more
// than a restart.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/connection/handshake.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/hello_packet.h"
#include "tests/unit/pep/stp/application.h"

namespace satrelay::stp::test::newcomer_test {
namespace {

using Packet = std::vector<std::byte>;

constexpr std::uint64_t kHigh = 1ULL << 62;
constexpr std::uint64_t kSeeds = 20;

// A HELLO that any machine can send in the name of end 1.
Packet forged_hello(std::uint64_t epoch, std::uint64_t peer_epoch = 0) {
  HelloFrame hello;
  hello.minimum_version = hello.maximum_version = kVersion;
  hello.opens_even_streams = false;
  hello.answer_wanted = true;
  hello.epoch = epoch;
  hello.peer_epoch = peer_epoch;
  hello.lane_count = 1;
  hello.datagram_size = 1472;
  hello.lane_credit = hello.stream_credit = 1 << 20;
  return sim::write_hello_packet({.number = 1}, hello);
}

class NewcomerTest : public ::testing::TestWithParam<Sealed> {
 protected:
  NewcomerTest()
      : net(end_config(true, GetParam()), end_config(false, GetParam()),
            Duration::milliseconds(275), {}, 1) {}
  bool encrypts() const { return GetParam() == Sealed::kByKey; }
  // The HELLOs that end `end` sends when it starts with this epoch. None of them arrives.
  std::vector<Packet> hellos_of(int end, std::uint64_t epoch) {
    std::vector<Packet> hellos;
    net.on_packet = [&](int from, ConstBytes packet) {
      if (from == end) hellos.emplace_back(packet.begin(), packet.end());
    };
    net.channels[end].outage = true;
    net.start(end, epoch);
    net.run(Duration::milliseconds(300));
    net.stop(end);
    net.channels[end].outage = false;
    net.on_packet = nullptr;
    return hellos;
  }
  // A HELLO that the peer might have sent, but did not send now: it is forged or replayed.
  Packet false_hello(std::uint64_t epoch) {
    return encrypts() ? hellos_of(1, epoch).front() : forged_hello(epoch);
  }
  void start_flow() { ASSERT_TRUE(net.apps[0].open(50'000'000, 0, net.now)); }
  void expect_flow_ends() {
    EXPECT_TRUE(net.run(Duration::seconds(120), [&] { return net.apps[1].finished_flows == 1; }));
    EXPECT_EQ(net.apps[0].restarts, 0);
    EXPECT_EQ(net.error(), "");
  }
  void hear(const Packet& packet) { net.session(0).handle_packet(packet, net.now); }
  // The handshake of end 0 alone, and a HELLO to it.
  using Outcome = Handshake::Outcome;
  Handshake boot_1000() {
    return {{.epoch = 1000, .opens_even_streams = true, .encrypts = encrypts()}, net.now};
  }
  HelloFrame hello_of(std::uint64_t epoch, std::uint64_t peer_epoch) const {
    HelloFrame hello;
    hello.minimum_version = hello.maximum_version = kVersion;
    hello.opens_even_streams = false;
    hello.encrypts = encrypts();
    hello.epoch = epoch;
    hello.peer_epoch = peer_epoch;
    return hello;
  }
  bool meets(std::uint64_t epoch) {
    return net.both_alive() && net.session(0).peer_epoch() == epoch;
  }
  Network net;
};

TEST_P(NewcomerTest, TheOldSessionGoesOnUntilThereIsProofOfAnother) {
  const Packet lie = false_hello(kHigh);
  ASSERT_TRUE(net.connect());
  start_flow();
  net.run(Duration::seconds(1));
  hear(lie);
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kAlive);
  EXPECT_EQ(net.session(0).streams().count(), 1U);
  expect_flow_ends();
}

TEST_P(NewcomerTest, ThePeerMayBeginAnewAfterAFalseHelloOfAHigherEpoch) {
  const Packet lie = false_hello(kHigh);
  ASSERT_TRUE(net.connect());
  hear(lie);
  net.run(Duration::milliseconds(100));
  net.stop(1);
  net.start(1, 3000);
  const Instant restart = net.now;
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] { return meets(3000); }));
  EXPECT_LE((net.now - restart).to_milliseconds(), 1'100);
}

TEST_P(NewcomerTest, NobodyIsLockedOutBeforeTheFirstSession) {
  const Packet lie = false_hello(kHigh);
  net.start(0, 1000);
  hear(lie);
  net.run(Duration::milliseconds(100));
  EXPECT_EQ(net.session(0).peer_epoch(), 0U);
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kConnecting);
  net.start(1, 2000);
  EXPECT_TRUE(net.run(Duration::seconds(2), [&] { return meets(2000); }));
}

TEST_P(NewcomerTest, ASilentPeerKeepsItsPlace) {
  const Packet lie = false_hello(kHigh), old_lie = false_hello(10);
  ASSERT_TRUE(net.connect());
  start_flow();
  net.run(Duration::seconds(1));
  net.channels[0].outage = net.channels[1].outage = true;
  for (int i = 0; i < 20; ++i) {
    net.run(Duration::milliseconds(500));
    hear(lie);
    hear(old_lie);
  }
  EXPECT_EQ(net.session(0).peer_state(), PeerState::kSuspect);
  EXPECT_EQ(net.session(0).peer_epoch(), 2000U);
  net.channels[0].outage = net.channels[1].outage = false;
  expect_flow_ends();
}

TEST_P(NewcomerTest, RisingEpochsKeepNobodyOut) {
  std::vector<Packet> lies;
  for (std::uint64_t i = 0; i < 20; ++i) lies.push_back(false_hello(kHigh + i));
  net.start(0, 1000);
  const auto lie = [&](Duration time, auto&& done) {
    std::uint64_t i = 0;
    const Instant end = net.now + time;
    while (net.now < end && !done()) {
      if (encrypts()) {
        hear(lies[i++ % lies.size()]);
      } else {
        for (int j = 0; j < 20; ++j) hear(forged_hello(kHigh + 1'000 + i++));
      }
      net.run(Duration::milliseconds(2));
    }
    return done();
  };
  lie(Duration::milliseconds(500), [] { return false; });
  net.start(1, 2000);
  EXPECT_TRUE(lie(Duration::seconds(2), [&] { return meets(2000); }));
  start_flow();
  lie(Duration::seconds(2), [] { return false; });
  EXPECT_EQ(net.apps[0].restarts, 0);
  // End 1 restarts meanwhile, and its old streams end at once.
  net.stop(1);
  net.start(1, 3000);
  EXPECT_TRUE(lie(Duration::seconds(2), [&] { return meets(3000); }));
  EXPECT_EQ(net.session(0).streams().count(), 0U);
}

TEST_P(NewcomerTest, AFloodIsAnsweredWithAFewHellos) {
  std::vector<Packet> lies;
  for (std::uint64_t i = 0; i < 20; ++i) lies.push_back(false_hello(kHigh + i));
  for (const bool connected : {false, true}) {
    net.channels[0].flush();  // HELLOs of the boot before must not arrive among those of the next
    net.start(0, 1000);
    if (connected) {
      ASSERT_TRUE(net.connect());
    }
    const std::uint64_t sent = net.channels[0].sent;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      hear(encrypts() ? lies[i % lies.size()] : forged_hello(kHigh + i));
      if (i % 10 == 0) net.run(Duration::milliseconds(1));
    }
    EXPECT_LT(net.channels[0].sent - sent, connected ? 80U : 140U);  // in 2 s
    EXPECT_EQ(net.ends[0]->arena().used_blocks(), 0U);
    net.stop(1);
  }
}

TEST_P(NewcomerTest, ANewcomerWithoutProofIsForgotten) {
  const Packet lie = false_hello(kHigh);
  net.start(0, 1000);
  hear(lie);
  std::uint64_t named = 0;
  net.on_packet = [&](int end, ConstBytes packet) {
    if (end != 0) return;
    ByteReader in(frames_of(packet));
    in.u8();
    HelloKeys keys;
    named = parse_hello(in, keys).peer_epoch;
  };
  net.run(Duration::seconds(3));
  EXPECT_EQ(named, kHigh);
  net.run(Duration::seconds(4));
  EXPECT_EQ(named, 0U);
  net.on_packet = nullptr;
}

// The newcomer's HELLOs repeat an offer that has been read. If the session forgot the newcomer
// meanwhile, it would forget the keys of that offer too. But the newcomer would send under them as
// soon as it has our answer.
TEST_P(NewcomerTest, ANewcomerThatGoesOnGreetingIsNotForgotten) {
  ASSERT_TRUE(net.connect());
  net.stop(1);
  net.channels[0].outage = true;  // our answers are lost for longer than a newcomer is remembered
  net.start(1, 3000);
  net.run(Duration::milliseconds(6'500));
  net.channels[0].outage = false;
  ASSERT_TRUE(net.run(Duration::seconds(3), [&] { return meets(3000); }));
  ASSERT_TRUE(net.apps[1].open(50'000, 0, net.now));
  const Instant opened = net.now;
  EXPECT_TRUE(net.run(Duration::seconds(20), [&] { return net.apps[0].finished_flows == 1; }));
  EXPECT_LE((net.now - opened).to_milliseconds(), 1'500);
  EXPECT_EQ(net.error(), "");
}

TEST_P(NewcomerTest, BothMayStartAnewAtOnce) {
  ASSERT_TRUE(net.connect());
  start_flow();
  net.run(Duration::seconds(1));
  for (int end = 0; end < 2; ++end) {
    net.stop(end);
    net.start(end, 3000 + static_cast<std::uint64_t>(end));
  }
  const Instant restart = net.now;
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] { return meets(3001); }));
  EXPECT_LE((net.now - restart).to_milliseconds(), 3 * 275 + 50);
}

// The clock of one end was ahead and is right again.
TEST_P(NewcomerTest, AClockThatIsSetBackCostsTheTimeOfASuspicion) {
  for (const int end : {0, 1}) {
    ASSERT_TRUE(net.connect());
    net.stop(end);
    net.start(end, 500);
    const Instant restart = net.now;
    EXPECT_TRUE(net.run(Duration::seconds(10), [&] {
      return net.both_alive() && net.session(1 - end).peer_epoch() == 500;
    })) << end;
    EXPECT_LE((net.now - restart).to_seconds(), 3.0 + 1.1 + 0.825) << end;
    net.run(Duration::seconds(3));
  }
}

TEST_P(NewcomerTest, AClockThatIsSetBackBeforeTheFirstProofCostsNothing) {
  // The first boot of end 1 is gone before it could answer our HELLO.
  const Packet ahead = encrypts() ? hellos_of(1, kHigh).front() : forged_hello(kHigh);
  net.start(0, 1000);
  hear(ahead);
  net.run(Duration::milliseconds(100));
  net.start(1, 500);
  EXPECT_TRUE(net.run(Duration::seconds(2), [&] { return meets(500); }));
  start_flow();
  expect_flow_ends();
}

// In a session that encrypts, only a peer that accepts our offer now can name our epoch.
TEST_P(NewcomerTest, WhoAcceptsAnOfferIsThereWhateverItsClockSays) {
  Handshake handshake = boot_1000();
  HelloFrame hello = hello_of(2000, 1000);
  ASSERT_EQ(handshake.handle_hello(hello, 1, false, net.now), Outcome::kEstablished);
  hello.epoch = 500;
  EXPECT_EQ(handshake.handle_hello(hello, 2, false, net.now),
            encrypts() ? Outcome::kEstablished : Outcome::kStale);
  EXPECT_EQ(handshake.peer().epoch, encrypts() ? 500U : 2000U);
}

TEST_P(NewcomerTest, IsGreetedThoughTheOneBeforeSaysOnlyNowThatItEnds) {
  Handshake handshake = boot_1000();
  ASSERT_EQ(handshake.handle_hello(hello_of(2000, 1000), 1, false, net.now), Outcome::kEstablished);
  ASSERT_EQ(handshake.handle_hello(hello_of(3000, 0), 1, false, net.now), Outcome::kNewcomer);
  handshake.stop();
  ASSERT_TRUE(handshake.hello_due(net.now));
  EXPECT_EQ(handshake.make_hello(0, 0, net.now).peer_epoch, 3000U);
}

TEST_P(NewcomerTest, WaitsWhileThePeerIsOwedAnAnswer) {
  Handshake handshake = boot_1000();
  ASSERT_EQ(handshake.handle_hello(hello_of(2000, 1000), 1, false, net.now), Outcome::kEstablished);
  HelloFrame question = hello_of(2000, 1000);
  question.answer_wanted = true;
  ASSERT_EQ(handshake.handle_hello(question, 7, false, net.now), Outcome::kNothing);
  ASSERT_EQ(handshake.handle_hello(hello_of(3000, 0), 8, false, net.now), Outcome::kNewcomer);
  const HelloFrame answer = handshake.make_hello(0, 0, net.now);
  EXPECT_EQ(answer.peer_epoch, 2000U);
  EXPECT_EQ(answer.echo, 7U);
  EXPECT_EQ(handshake.make_hello(0, 0, net.now).peer_epoch, 3000U);
}

// All packets that would tell end 0 of the new boot are lost for longer than a newcomer is
// remembered.
TEST_P(NewcomerTest, ProofThatIsLostComesLater) {
  ASSERT_TRUE(net.connect());
  net.run(Duration::seconds(1));
  net.stop(1);
  net.start(1, 3000);
  ASSERT_TRUE(net.run(Duration::seconds(2),
                      [&] { return net.session(1).peer_state() == PeerState::kAlive; }));
  EXPECT_EQ(net.session(0).peer_epoch(), 2000U);
  net.channels[1].flush();
  net.channels[1].outage = true;
  net.run(Duration::seconds(20));
  net.channels[1].outage = false;
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] { return meets(3000); }));
  start_flow();
  EXPECT_TRUE(net.run(Duration::seconds(60), [&] { return net.apps[1].finished_flows == 1; }));
}

TEST_P(NewcomerTest, APeerThatHasClosedKeepsNobodyOut) {
  const Packet lie = false_hello(kHigh);
  ASSERT_TRUE(net.connect());
  net.session(1).close(net.now);
  net.run(Duration::seconds(1));
  ASSERT_EQ(net.session(0).peer_state(), PeerState::kClosed);
  hear(lie);
  net.run(Duration::milliseconds(200));
  net.stop(1);
  net.start(1, 1500);  // with a clock that was set back
  EXPECT_TRUE(net.run(Duration::seconds(3), [&] { return meets(1500); }));
}

// If one exchange of keys overtakes another, packets under the keys of the other cannot be opened.
// Then their sender asks for keys again.
TEST_P(NewcomerTest, HeavyLossAndFalseHellosEndInASession) {
  std::vector<Packet> lies;
  for (std::uint64_t i = 0; i < 5; ++i) lies.push_back(false_hello(kHigh + i));
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Random random(seed);
    Network pair(net.configs[0], net.configs[1], Duration::milliseconds(275), {.loss = 0.5}, seed);
    for (std::uint64_t boot = 0; boot < 10; ++boot) {
      const std::uint64_t epoch = 3000 + boot;
      const int end = random.chance(0.5) ? 0 : 1;
      pair.start(end, epoch);
      if (boot == 0) pair.start(1 - end, 2000);
      Instant last_lie;
      const auto meets = [&] {
        if (pair.now > last_lie && random.chance(0.2)) {
          last_lie = pair.now;
          pair.session(0).handle_packet(lies[random.below(lies.size())], pair.now);
        }
        return pair.both_alive() && pair.session(1 - end).peer_epoch() == epoch;
      };
      EXPECT_TRUE(pair.run(Duration::seconds(60), meets)) << seed << ", " << boot;
      ASSERT_TRUE(pair.apps[0].open(2'000, 2'000, pair.now));
      EXPECT_TRUE(pair.run(Duration::seconds(60), [&] { return pair.apps[0].all_over(); }))
          << seed << ", " << boot;
    }
    EXPECT_EQ(pair.error(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Session, NewcomerTest,
                         ::testing::Values(Sealed::kByChecksum, Sealed::kByKey),
                         [](const auto& param_info) {
                           return param_info.param == Sealed::kByKey ? "ByKey" : "ByChecksum";
                         });

// --- a session that encrypts, and floods of HELLOs from senders without the secret ---------------

enum class Kind : std::uint8_t { kWrongMac, kNoMac };

class FloodTest : public ::testing::TestWithParam<std::tuple<Kind, bool>> {
 protected:
  FloodTest()
      : net(end_config(true, Sealed::kByKey), end_config(false, Sealed::kByKey),
            Duration::milliseconds(275), {}, 1) {}
  bool has_mac() const { return std::get<0>(GetParam()) == Kind::kWrongMac; }
  bool at_both() const { return std::get<1>(GetParam()); }
  // Sends 27,000 HELLOs a second to both ends, or 90,000 to one, for `time` or until done(). They
  // arrive one by one, so that the genuine HELLO finds the budget spent.
  template <typename Done>
  bool flood(Duration time, Done&& done) {
    const Instant end = net.now + time;
    while (net.now < end && !done()) {
      forge();
      for (const int victim : {0, 1}) {
        if (victim == 1 && !at_both()) continue;
        if (net.ends[victim]) net.session(victim).handle_packet(greeting, net.now);
      }
      net.run(Duration::microseconds(at_both() ? 37 : 11));
    }
    return done();
  }
  void forge() {
    Packet offer(103);
    for (std::byte& octet : offer) octet = static_cast<std::byte>(random.next());
    greeting = forged_hello(1, 0);
    ByteReader in(frames_of(greeting));
    in.u8();
    HelloKeys none;
    HelloFrame hello = parse_hello(in, none);
    hello.encrypts = true;
    greeting = sim::write_hello_packet({.number = 1}, hello,
                                       {.offer = offer, .accept = {}, .has_mac = has_mac()});
  }
  std::uint64_t refused() {
    const Counters& c = net.session(0).counters();
    return has_mac() ? c.not_authentic : c.hellos_unread + c.hellos_without_mac;
  }
  Network net;
  Packet greeting;
  Random random{5};
};

TEST_P(FloodTest, AGenuinePeerIsMetAllTheSame) {
  net.start(0, 1000);
  const auto met = [&](std::uint64_t epoch) {
    return [this, epoch] { return net.both_alive() && net.session(0).peer_epoch() == epoch; };
  };
  flood(Duration::seconds(1), [] { return false; });
  for (std::uint64_t boot = 0; boot < 5; ++boot) {
    net.start(1, 2000 + boot);
    const Instant start = net.now;
    EXPECT_TRUE(flood(Duration::seconds(3), met(2000 + boot))) << boot;
    EXPECT_LE((net.now - start).to_milliseconds(), 3 * 275 + 20) << boot;
    net.stop(1);
  }
  EXPECT_GT(refused(), 15'000U);
}

// A HELLO of the peer, from an older build, may be among the unread ones. So the session asks for
// HELLOs, and reads the answer.
TEST_P(FloodTest, WhatIsLeftUnreadIsAskedFor) {
  net.start(0, 1000);
  int hellos = 0;
  net.on_packet = [&](int from, ConstBytes) { hellos += from == 0 ? 1 : 0; };
  net.run(Duration::milliseconds(5'500));
  hellos = 0;  // the session sends one a second by now
  flood(Duration::milliseconds(100), [] { return false; });
  EXPECT_GT(refused(), 0U);
  EXPECT_GE(hellos, has_mac() ? 0 : 1);
  EXPECT_LE(hellos, has_mac() ? 0 : 3);
}

INSTANTIATE_TEST_SUITE_P(Session, FloodTest,
                         ::testing::Combine(::testing::Values(Kind::kWrongMac, Kind::kNoMac),
                                            ::testing::Bool()),
                         [](const auto& param_info) {
                           return std::string(std::get<0>(param_info.param) == Kind::kNoMac
                                                  ? "WithoutMac"
                                                  : "WithAWrongMac") +
                                  (std::get<1>(param_info.param) ? "AtBothEnds" : "AtOneEnd");
                         });

}  // namespace
}  // namespace satrelay::stp::test::newcomer_test
