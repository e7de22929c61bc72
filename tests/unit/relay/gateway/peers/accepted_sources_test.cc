// Two gateways tell each other from which hosts they accept connections.
#include "relay/gateway/peers/accepted_sources.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "pep/control/fixed_rate.h"
#include "pep/control/pacer.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::accepted_sources_test {
namespace {

using stp::ResetReason;

std::vector<IpPrefix> prefixes_of(std::initializer_list<std::string_view> texts) {
  std::vector<IpPrefix> list;
  for (const std::string_view text : texts) list.push_back(*IpPrefix::parse(text));
  return list;
}

std::vector<IpPrefix> hosts(unsigned count) {
  std::vector<IpPrefix> list;
  for (unsigned i = 0; i < count; ++i) {
    const auto high = static_cast<std::uint8_t>(i >> 8);
    list.push_back({IpAddress::v4({10, high, static_cast<std::uint8_t>(i), 1}), 32});
  }
  return list;
}

// One end: a session, and the lists that it carries.
class End final : public stp::StreamSource {
 public:
  End(std::uint64_t epoch, Instant now, bool understands, std::vector<IpPrefix> prefixes)
      : memory_(1U << 20),
        arena_(memory_, 4096),
        pacer_(kRate, control::LinkOverhead{}, Duration::milliseconds(4)),
        controller_(kRate),
        session_(config_of(epoch, understands), arena_, pacer_, controller_, *this, now),
        prefixes_(std::move(prefixes)),
        messages_(session_, 9),
        sources_(session_, messages_, prefixes_) {}

  stp::Session& session() { return session_; }
  AcceptedSources& sources() { return sources_; }
  bool allows(std::string_view host) const { return sources_.allow(ip_of(host)); }
  void produce(stp::StreamId stream, std::uint32_t, Instant now) override {
    if (!sources_.produce(stream, now)) session_.streams().set_ready(stream, false);
  }
  // Handles the events as ControlMessages does.
  void take_events(Instant now) {
    while (const auto event = session_.poll_event()) {
      using Kind = stp::Event::Kind;
      if (event->kind == Kind::kPeerAlive && tells) sources_.tell(now);
      if (event->kind == Kind::kOpened) {
        ++opened;
        if (refuses) {
          session_.streams().reset(event->stream, ResetReason::kNoResources, now);
        } else {
          sources_.handle_opened(event->stream, now);
        }
      }
      if (event->kind == Kind::kReadable) sources_.handle_readable(event->stream, now);
      if (event->kind == Kind::kReset) {
        reasons.push_back(event->reason);
        messages_.forget(event->stream);
        sources_.handle_reset(event->stream, event->reason, now);
      }
    }
    if (sources_.next_timeout() <= now) sources_.handle_timeout(now);
  }

  std::vector<ResetReason> reasons;
  int opened = 0;
  bool refuses = false;
  bool tells = true;

 private:
  static constexpr BitRate kRate = BitRate::bits_per_second(10'000'000);
  static stp::Config config_of(std::uint64_t epoch, bool understands) {
    stp::Config config;
    config.boot_epoch = epoch;
    config.opens_even_streams = epoch == 1;
    config.streams.max_streams = 32;
    if (understands) config.relay_capabilities = stp::kCapabilityAcceptedSources;
    config.streams.lane_receive_limit = config.streams.receive_limit = config.streams.send_limit =
        1 << 18;
    return config;
  }
  std::vector<std::byte> memory_;
  Arena arena_;
  control::Pacer pacer_;
  control::FixedRate controller_;
  stp::Session session_;
  std::vector<IpPrefix> prefixes_;
  Messages messages_;
  AcceptedSources sources_;
};

struct Pair {
  explicit Pair(std::vector<IpPrefix> far_prefixes, bool far_understands = true)
      : far(2, now, far_understands, std::move(far_prefixes)) {}
  void run(int rounds) {
    for (; rounds > 0; --rounds) {
      now += Duration::milliseconds(20);
      for (End* from : {&near, &far}) {
        End& to = from == &near ? far : near;
        if (from->session().next_timeout() <= now) from->session().handle_timeout(now);
        from->take_events(now);
        std::array<std::byte, 1472> packet{};
        while (const std::size_t size = from->session().poll_packet(packet, now, {})) {
          to.session().handle_packet(ConstBytes(packet).first(size), now);
        }
      }
    }
  }
  // Sends `octets` from the far end as a list, well-formed or not. Without `ends` the stream stays
  // open.
  stp::StreamId send(std::initializer_list<unsigned> octets,
                     std::initializer_list<unsigned> metadata, bool ends = true) {
    const auto bytes_of = [](std::initializer_list<unsigned> list) {
      std::vector<std::byte> bytes;
      for (const unsigned octet : list) bytes.push_back(static_cast<std::byte>(octet));
      return bytes;
    };
    const auto stream = far.session().streams().open(bytes_of(metadata), 9, now);
    EXPECT_TRUE(stream);
    const auto bytes = bytes_of(octets);
    EXPECT_EQ(far.session().streams().write(*stream, bytes, now), bytes.size());
    if (ends) far.session().streams().finish(*stream);
    run(4);
    return *stream;
  }

  Instant now = Instant::from_nanoseconds(1'000'000'000);
  End near{1, now, true, prefixes_of({"0.0.0.0/0", "::/0"})};
  End far;
};

TEST(AcceptedSources, AreTheHostsOfThePeersPrefixes) {
  Pair pair(prefixes_of({"198.51.100.0/24", "10.0.0.0/9", "2001:db8:2::/47", "203.0.113.7/32"}));
  EXPECT_TRUE(pair.near.sources().are_known()) << "there is no session to know of";
  pair.run(20);
  ASSERT_TRUE(pair.near.sources().are_known());
  for (const char* const host : {"198.51.100.0", "198.51.100.255", "10.127.255.255",
                                 "2001:db8:2::1", "2001:db8:3:ffff::1", "203.0.113.7"}) {
    EXPECT_TRUE(pair.near.allows(host)) << host;
  }
  for (const char* const host : {"198.51.99.255", "198.51.101.0", "10.128.0.0", "2001:db8:1::1",
                                 "2001:db8:4::", "203.0.113.6", "203.0.113.8", "::1", "0.0.0.0"}) {
    EXPECT_FALSE(pair.near.allows(host)) << host;
  }
  EXPECT_TRUE(pair.far.allows("192.0.2.1")) << "everything";
  EXPECT_TRUE(pair.far.allows("2001:db8::1")) << "everything";
  EXPECT_EQ(pair.near.opened, 1);
  EXPECT_EQ(pair.far.reasons, std::vector{ResetReason::kNone});
  pair.run(200);
  EXPECT_EQ(pair.near.opened, 1) << "once in a session";
}

TEST(AcceptedSources, UntilThePeerTellsNothingIsKnown) {
  Pair pair(prefixes_of({"198.51.100.0/24"}));
  pair.far.tells = false;
  pair.run(20);
  ASSERT_EQ(pair.near.session().peer_state(), stp::PeerState::kAlive);
  EXPECT_FALSE(pair.near.sources().are_known());
  EXPECT_TRUE(pair.near.allows("10.0.0.1"));
  pair.far.sources().tell(pair.now);
  pair.run(5);
  EXPECT_TRUE(pair.near.sources().are_known());
  EXPECT_FALSE(pair.near.allows("10.0.0.1"));
}

TEST(AcceptedSources, AnOlderPeerTellsNothingAndIsToldNothing) {
  Pair pair(prefixes_of({"198.51.100.0/24"}), false);
  pair.run(20);
  ASSERT_EQ(pair.near.session().peer_state(), stp::PeerState::kAlive);
  EXPECT_TRUE(pair.near.sources().are_known()) << "it never will";
  EXPECT_TRUE(pair.near.allows("10.0.0.1"));
  EXPECT_EQ(pair.far.opened, 0);
  pair.send({4, 8, 10}, {0xc9, 0});
  EXPECT_EQ(pair.far.reasons, std::vector{ResetReason::kPolicy});
  EXPECT_TRUE(pair.near.allows("11.0.0.1"));
}

TEST(AcceptedSources, APeerMayAcceptNothing) {
  Pair pair({});
  pair.run(20);
  EXPECT_TRUE(pair.near.sources().are_known());
  EXPECT_FALSE(pair.near.allows("10.0.0.1"));
  EXPECT_FALSE(pair.near.allows("2001:db8::1"));
}

TEST(AcceptedSources, OfMoreThanAListHoldsTheLargestAreToldAndTheRestIsNotKnown) {
  std::vector<IpPrefix> many = hosts(AcceptedSources::kMostPrefixes);
  Pair full(many);
  full.run(100);
  ASSERT_TRUE(full.near.sources().are_known());
  EXPECT_TRUE(full.near.allows("10.3.255.1"));
  EXPECT_FALSE(full.near.allows("10.4.0.1"));
  many.push_back(*IpPrefix::parse("192.168.0.0/16"));
  Pair more(many);
  more.run(100);
  ASSERT_TRUE(more.near.sources().are_known());
  EXPECT_TRUE(more.near.allows("192.168.0.1"));
  EXPECT_TRUE(more.near.allows("10.4.0.1")) << "perhaps";
}

TEST(AcceptedSources, WhatThePeerHadNoRoomForIsToldAgain) {
  Pair pair(prefixes_of({"198.51.100.0/24"}));
  pair.near.refuses = true;
  pair.run(20);
  EXPECT_EQ(pair.near.opened, 1);
  EXPECT_FALSE(pair.near.sources().are_known());
  pair.near.refuses = false;
  pair.run(60);
  EXPECT_EQ(pair.near.opened, 2);
  EXPECT_FALSE(pair.near.allows("10.0.0.1"));
}

TEST(AcceptedSources, ANewSessionTellsAnew) {
  Pair pair(prefixes_of({"198.51.100.0/24"}));
  pair.run(20);
  pair.near.sources().forget_session();
  EXPECT_FALSE(pair.near.sources().are_known());
  EXPECT_TRUE(pair.near.allows("10.0.0.1"));
  pair.far.sources().forget_session();
  pair.far.sources().tell(pair.now);
  pair.run(20);
  EXPECT_FALSE(pair.near.allows("10.0.0.1"));
}

class FromAnOddPeer : public testing::Test {
 protected:
  FromAnOddPeer() : pair_({}) {
    pair_.far.tells = false;
    pair_.run(20);
  }
  ResetReason answer_to(std::initializer_list<unsigned> octets,
                        std::initializer_list<unsigned> metadata = {0xc9, 0}) {
    pair_.send(octets, metadata);
    return pair_.far.reasons.empty() ? ResetReason::kTimeout : pair_.far.reasons.back();
  }
  Pair pair_;
};

TEST_F(FromAnOddPeer, AMalformedListHasNoEffect) {
  EXPECT_EQ(answer_to({}, {0xc9}), ResetReason::kProtocolError) << "no flags";
  EXPECT_EQ(answer_to({5, 8, 10}), ResetReason::kProtocolError) << "no version of IP";
  EXPECT_EQ(answer_to({4, 33, 10, 0, 0, 0, 0}), ResetReason::kProtocolError) << "too long";
  EXPECT_EQ(answer_to({6, 255, 10}), ResetReason::kProtocolError) << "too long";
  EXPECT_EQ(answer_to({4, 24, 10, 0}), ResetReason::kProtocolError) << "cut short";
  EXPECT_EQ(answer_to({4, 8, 10, 4}), ResetReason::kProtocolError) << "cut short";
  EXPECT_FALSE(pair_.near.sources().are_known());
  EXPECT_EQ(answer_to({4, 8, 10, 6, 3, 0x3f, 4, 0}), ResetReason::kNone);
  EXPECT_TRUE(pair_.near.allows("11.0.0.1")) << "a prefix of no bits holds everything";
  EXPECT_TRUE(pair_.near.allows("3fff::1")) << "the bits behind the prefix do not count";
  EXPECT_FALSE(pair_.near.allows("4000::1"));
  EXPECT_EQ(answer_to({9, 9}), ResetReason::kProtocolError);
  EXPECT_FALSE(pair_.near.allows("4000::1")) << "the list before it stays";
  EXPECT_EQ(answer_to({4, 8, 10}), ResetReason::kNone);
  EXPECT_FALSE(pair_.near.allows("11.0.0.1")) << "a later list replaces it";
}

TEST_F(FromAnOddPeer, AListThatNeverEndsIsRefusedInTime) {
  pair_.send({4, 8, 10}, {0xc9, 0}, false);
  pair_.run(2'990);
  EXPECT_TRUE(pair_.far.reasons.empty());
  pair_.run(20);
  EXPECT_EQ(pair_.far.reasons, std::vector{ResetReason::kNoResources}) << "to be told again";
  EXPECT_EQ(answer_to({4, 8, 10}), ResetReason::kNone);
  EXPECT_FALSE(pair_.near.allows("11.0.0.1"));
}

TEST_F(FromAnOddPeer, WhatAListSaysMoreIsIgnored) {
  EXPECT_EQ(answer_to({4, 8, 10}, {0xc9, 0xfe, 7, 7}), ResetReason::kNone);
  EXPECT_FALSE(pair_.near.allows("11.0.0.1"));
  EXPECT_EQ(answer_to({4, 8, 10}, {0xc9, 1}), ResetReason::kNone);
  EXPECT_TRUE(pair_.near.allows("11.0.0.1")) << "the peer accepts others, too";
}

TEST_F(FromAnOddPeer, OneListIsReadAtATimeAndNoMoreThanItMayHold) {
  const stp::StreamId first = pair_.send({4, 8, 10}, {0xc9, 0}, false);
  EXPECT_EQ(answer_to({4, 8, 11}), ResetReason::kNoResources);
  EXPECT_FALSE(pair_.near.sources().are_known());
  std::vector<std::byte> endless;
  for (std::size_t i = 0; i < AcceptedSources::kMostPrefixes; ++i) {
    for (const unsigned octet : {4U, 16U, 12U, static_cast<unsigned>(i % 256)}) {
      endless.push_back(static_cast<std::byte>(octet));
    }
  }
  EXPECT_EQ(pair_.far.session().streams().write(first, endless, pair_.now), endless.size());
  pair_.run(40);
  EXPECT_EQ(pair_.far.reasons.back(), ResetReason::kPolicy) << "too much";
  EXPECT_TRUE(pair_.near.sources().are_known());
  EXPECT_TRUE(pair_.near.allows("13.0.0.1")) << "the rest of the list may hold it";
}

}  // namespace
}  // namespace satrelay::gateway::accepted_sources_test
