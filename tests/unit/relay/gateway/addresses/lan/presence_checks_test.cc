#include "relay/gateway/addresses/lan/presence_checks.h"

#include <gtest/gtest.h>

#include <string_view>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::presence_checks_test {
namespace {

using Proof = PresenceChecks::Proof;
using State = PresenceChecks::State;

constexpr auto kHost = "203.0.113.5";
constexpr auto kHostV6 = "2001:db8:a::5";
constexpr FarGatewayId kPeer(3);

LanAddress address_of(std::string_view host) { return {ip_of(host), {}}; }

wire::EthernetHeader header(const MacAddress& from, const MacAddress& to) {
  wire::EthernetHeader ethernet;
  ethernet.source = from;
  ethernet.destination = to;
  return ethernet;
}

class Checks {
 public:
  explicit Checks(Proof proof) : checks(proof, HashKey{1, 2}, kGatewayMac, awaited, stations) {}
  bool ask(std::string_view host = kHost) {
    return checks.ask(address_of(host), {.mac = kHostMac}, kPeer, now);
  }
  std::size_t question() { return checks.poll_frame(out, now); }
  void wait(Duration duration) {
    now += duration;
    checks.handle_timeout(now);
  }
  void hear(std::string_view host, const MacAddress& mac, const MacAddress& to) {
    checks.hear_told({.host = ip_of(host), .mac = mac}, header(mac, to), now);
  }

  const PresenceChecks::Check* result(std::string_view host = kHost, FarGatewayId peer = kPeer) {
    return checks.find(address_of(host), kHostMac, peer, now);
  }
  bool is_known(FarGatewayId peer = kPeer, const MacAddress& mac = kHostMac) {
    return checks.is_known(address_of(kHost), mac, peer, now);
  }

  AwaitedAnswers awaited{HashKey{1, 2}};
  FilteringDatabase stations{HashKey{1, 2}};
  PresenceChecks checks;
  FrameBytes out = FrameBytes(1514);
  Instant now = Instant::from_nanoseconds(1);
};

constexpr Duration kHalf = Duration::milliseconds(500);

TEST(PresenceChecks, AskAllTwiceWithinASecond) {
  Checks c(Proof::kAnything);
  ASSERT_TRUE(c.ask());
  ASSERT_TRUE(c.ask()) << "the same once";
  ASSERT_GT(c.question(), 0U);
  const Frame frame = look_at(c.out);
  EXPECT_EQ(frame.ethernet.destination, MacAddress::broadcast());
  EXPECT_EQ(frame.ethernet.source, kGatewayMac);
  const auto arp = wire::parse_arp(frame.payload);
  ASSERT_TRUE(arp);
  EXPECT_EQ(arp->target, ip_of(kHost));
  EXPECT_EQ(arp->sender, IpAddress::v4({}));
  EXPECT_EQ(c.question(), 0U);
  EXPECT_TRUE(c.awaited.find({.host = ip_of(kHost), .mac = kHostMac}, c.now));
  c.wait(kHalf);
  ASSERT_GT(c.question(), 0U);
  EXPECT_FALSE(c.checks.take_settled());
  c.wait(kHalf);
  EXPECT_EQ(c.question(), 0U);
  const auto settled = c.checks.take_settled();
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->result, State::kSilent);
  EXPECT_EQ(settled->check.peer, kPeer);
  EXPECT_FALSE(c.checks.take_settled());
  EXPECT_TRUE(c.checks.next_timeout().is_never());
}

TEST(PresenceChecks, AskForAnIpv6HostByItsGroup) {
  Checks c(Proof::kAnswer);
  ASSERT_TRUE(c.ask(kHostV6));
  ASSERT_GT(c.question(), 0U);
  const Frame frame = look_at(c.out);
  EXPECT_EQ(frame.ethernet.destination, (MacAddress{{0x33, 0x33, 0xff, 0, 0, 5}}));
  EXPECT_TRUE(wire::is_neighbour_discovery(frame.ip, frame.payload));
  // RFC 4861 section 7.2.4: the answer goes to all nodes, since the solicitation had no source.
  c.hear(kHostV6, kHostMac, {{0x33, 0x33, 0, 0, 0, 1}});
  ASSERT_TRUE(c.checks.take_settled());
}

TEST(PresenceChecks, OnlyAnAnswerToTheGatewayIsProof) {
  Checks c(Proof::kAnswer);
  ASSERT_TRUE(c.ask());
  c.hear(kHost, kHostMac, kGatewayMac);
  EXPECT_FALSE(c.checks.take_settled()) << "before the question";
  ASSERT_GT(c.question(), 0U);
  c.hear(kHost, kHostMac, MacAddress::broadcast());
  c.hear(kHost, kServerMac, kGatewayMac);
  c.hear("203.0.113.6", kHostMac, kGatewayMac);
  c.checks.hear_sender(header(kHostMac, kGatewayMac), c.now);
  EXPECT_FALSE(c.checks.take_settled());
  c.hear(kHost, kHostMac, kGatewayMac);
  const auto settled = c.checks.take_settled();
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->result, State::kHere);
  EXPECT_EQ(c.checks.towards(settled->check).destination, kHostMac);
  EXPECT_EQ(c.checks.towards(settled->check).source, kGatewayMac);
}

TEST(PresenceChecks, AnySignOfLifeIsProofOfAHostThatIsSaidToHaveLeft) {
  Checks told(Proof::kAnything);
  ASSERT_TRUE(told.ask());
  told.hear(kHost, kServerMac, kServerMac);
  ASSERT_TRUE(told.checks.take_settled()) << "at another MAC, to somebody else";
  Checks seen(Proof::kAnything);
  ASSERT_TRUE(seen.ask());
  seen.checks.hear_sender(header(kServerMac, kGatewayMac), seen.now);
  EXPECT_FALSE(seen.checks.take_settled());
  wire::EthernetHeader in_other_vlan = header(kHostMac, kServerMac);
  in_other_vlan.tag_count = 1;
  in_other_vlan.tags[0] = {0x8100, 7};
  seen.checks.hear_sender(in_other_vlan, seen.now);
  EXPECT_FALSE(seen.checks.take_settled());
  seen.checks.hear_sender(header(kHostMac, kServerMac), seen.now);
  const auto settled = seen.checks.take_settled();
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->result, State::kHere);
}

// A host's TCP segments go to the workers of their flows.
TEST(PresenceChecks, AHostThatAnotherWorkerHearsIsThere) {
  const Station host{.mac = kHostMac};
  for (const Side side : {Side::kLan, Side::kWan}) {
    Checks c(Proof::kAnything);
    c.now += Duration::milliseconds(700);
    c.stations.learn(Side::kLan, host, c.now);
    ASSERT_TRUE(c.ask());
    c.question();
    c.wait(kHalf);
    c.stations.learn(side, host, c.now);
    c.question();
    c.wait(kHalf);
    const auto settled = c.checks.take_settled();
    ASSERT_TRUE(settled);
    EXPECT_EQ(settled->result, side == Side::kLan ? State::kHere : State::kSilent);
  }
}

TEST(PresenceChecks, AQuestionThatCannotLeaveTellsNothing) {
  Checks c(Proof::kAnything);
  ASSERT_TRUE(c.ask());
  c.wait(kHalf);
  const auto settled = c.checks.take_settled();
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->result, State::kNone);
  EXPECT_EQ(c.result(), nullptr);
}

TEST(PresenceChecks, AResultIsKeptForAWhile) {
  Checks c(Proof::kAnything);
  ASSERT_TRUE(c.ask());
  c.question();
  EXPECT_EQ(c.result(), nullptr);
  c.wait(kHalf);
  c.question();
  c.wait(kHalf);
  ASSERT_TRUE(c.checks.take_settled());
  ASSERT_NE(c.result(), nullptr);
  EXPECT_EQ(c.result("203.0.113.6"), nullptr);
  EXPECT_EQ(c.result(kHost, kPeer.next()), nullptr);
  EXPECT_TRUE(c.is_known());
  EXPECT_FALSE(c.is_known(kPeer.next())) << "another peer says so";
  EXPECT_FALSE(c.is_known(kPeer, kServerMac)) << "somebody else has claimed the host";
  c.wait(PresenceChecks::kInterval);
  EXPECT_FALSE(c.is_known()) << "it may be asked for again";
  ASSERT_TRUE(c.ask());
  EXPECT_NE(c.result(), nullptr) << "until there is a new result";
  c.wait(PresenceChecks::kKept);
  EXPECT_EQ(c.result(), nullptr);
}

// A station claims the host for ever, or the address exists on both LANs on purpose.
TEST(PresenceChecks, AreMadeLessAndLessOften) {
  Checks c(Proof::kAnswer);
  int checks = 0;
  for (int i = 0; i < 3'600; ++i) {
    if (!c.is_known() && c.ask()) ++checks;
    c.question();
    c.hear(kHost, kHostMac, kGatewayMac);
    c.wait(Duration::seconds(1));
    c.checks.take_settled();
  }
  EXPECT_LE(checks, 62) << "2 + 4 + 8 + 16 + 32 s, and then each 64 s";
  c.wait(PresenceChecks::kLongestInterval * 2);
  ASSERT_TRUE(c.ask());
  c.wait(PresenceChecks::kInterval);
  EXPECT_FALSE(c.is_known()) << "there was none for long";
}

// A station claims very many addresses.
TEST(PresenceChecks, AreLimitedInNumberAndRate) {
  Checks c(Proof::kAnswer);
  std::size_t questions = 0;
  unsigned asked = 0;
  for (unsigned i = 0; i < 10'000; ++i) {
    const LanAddress address{
        IpAddress::v4({10, 1, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)}),
        {}};
    if (c.checks.ask(address, {.mac = kHostMac}, kPeer, c.now)) ++asked;
    while (c.question() > 0) ++questions;
    c.wait(Duration::microseconds(100));
    while (c.checks.take_settled()) {
    }
  }
  EXPECT_GE(asked, PresenceChecks::kMostAsked);
  EXPECT_LE(asked, PresenceChecks::kMostAsked + PresenceChecks::kAskedPerSecond + 1);
  EXPECT_LE(questions, 2 * asked);
}

}  // namespace
}  // namespace satrelay::gateway::presence_checks_test
