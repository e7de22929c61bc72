#include "relay/gateway/addresses/between_gateways.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::between_gateways_test {
namespace {

using State = BetweenGateways::State;

constexpr Duration kSoon = Duration::milliseconds(300);

class BetweenGatewaysUnit : public ::testing::TestWithParam<std::int64_t> {
 protected:
  static LanAddress address(const char* host, std::uint16_t vlan = 0) {
    return {ip_of(host), Vlans{vlan}};
  }
  void resolve(const LanAddress& address, Duration after = Duration::milliseconds(5)) {
    between_.note_question(address, kHostMac, now_);
    now_ = now_ + after;
    between_.note_answer(address, kHostMac, kSoon, now_);
  }
  State state(const LanAddress& address) const { return between_.state(address, now_); }

  BetweenGateways between_{{3, 5}};
  Instant now_ = Instant() + Duration::milliseconds(GetParam());
  const LanAddress modem_ = address("192.168.100.1");
};

// The clock of the questions wraps after two years.
INSTANTIATE_TEST_SUITE_P(Clocks, BetweenGatewaysUnit,
                         ::testing::Values(0, 100'000'000, 0xffff'ffffLL * 16 - 3));

TEST_P(BetweenGatewaysUnit, ASoonAnswerIsAHintThatTheDeviceConfirms) {
  EXPECT_EQ(state(modem_), State::kUnknown);
  EXPECT_FALSE(between_.confirm(modem_, now_)) << "there is no hint";
  resolve(modem_);
  EXPECT_EQ(state(modem_), State::kHint);
  EXPECT_EQ(state(address("192.168.100.1", 7)), State::kUnknown) << "in another VLAN";
  EXPECT_EQ(state(address("192.168.100.2")), State::kUnknown) << "the same MAC";
  EXPECT_TRUE(between_.confirm(modem_, now_));
  EXPECT_FALSE(between_.confirm(modem_, now_)) << "no news";
  EXPECT_EQ(state(modem_), State::kConfirmed);
  now_ = now_ + BetweenGateways::kKept - Duration::seconds(1);
  resolve(modem_);
  now_ = now_ + BetweenGateways::kKept - Duration::seconds(1);
  EXPECT_EQ(state(modem_), State::kUnknown) << "an answer to ARP renews nothing";
  resolve(modem_);
  EXPECT_TRUE(between_.confirm(modem_, now_));
  now_ = now_ + BetweenGateways::kKept - Duration::seconds(2);
  EXPECT_FALSE(between_.confirm(modem_, now_)) << "a SYN that was answered renews it";
  now_ = now_ + BetweenGateways::kKept - Duration::seconds(1);
  EXPECT_EQ(state(modem_), State::kConfirmed);
  now_ = now_ + Duration::seconds(2);
  EXPECT_EQ(state(modem_), State::kUnknown);
}

// A router with proxy ARP gives many hints. All of them become void in the end.
TEST_P(BetweenGatewaysUnit, WhatIsOverKeepsNoFreshHintOut) {
  const auto address_of = [](std::uint8_t net, std::uint32_t i) {
    const auto octet = [&](int shift) { return static_cast<std::uint8_t>(i >> shift); };
    return LanAddress(IpAddress::v4({net, octet(16), octet(8), octet(0)}), Vlans{});
  };
  for (std::uint32_t i = 0; i < 10 * BetweenGateways::kAddresses; ++i) {
    between_.refute(address_of(10, i), now_);
  }
  now_ = now_ + BetweenGateways::kVoidFor;
  constexpr std::uint32_t kHints = BetweenGateways::kAddresses / 4;
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < kHints; ++i) resolve(address_of(11, i), Duration::zero());
  for (std::uint32_t i = 0; i < kHints; ++i) found += state(address_of(11, i)) == State::kHint;
  EXPECT_GE(found, kHints * 9 / 10);
}

// The clock of the worker that sees the answer is a little behind.
TEST_P(BetweenGatewaysUnit, AnAnswerMaySeemToComeBeforeItsQuestion) {
  between_.note_question(modem_, kHostMac, now_ + Duration::milliseconds(20));
  between_.note_answer(modem_, kHostMac, kSoon, now_);
  EXPECT_EQ(state(modem_), State::kHint);
}

TEST_P(BetweenGatewaysUnit, ALateAnswerIsNone) {
  resolve(modem_, kSoon);
  EXPECT_EQ(state(modem_), State::kUnknown);
  between_.note_answer(modem_, kServerMac, kSoon, now_);
  EXPECT_EQ(state(modem_), State::kUnknown) << "that station has not asked";
}

TEST_P(BetweenGatewaysUnit, AQuestionThatIsRepeatedCountsFromTheFirst) {
  between_.note_question(modem_, kHostMac, now_);
  now_ = now_ + Duration::seconds(1);
  resolve(modem_);
  EXPECT_EQ(state(modem_), State::kUnknown);
  now_ = now_ + BetweenGateways::kRepeats;
  resolve(modem_);
  EXPECT_EQ(state(modem_), State::kHint);
}

TEST_P(BetweenGatewaysUnit, AVoidHintStaysVoidForAWhile) {
  resolve(modem_);
  EXPECT_TRUE(between_.refute(modem_, now_));
  EXPECT_FALSE(between_.refute(modem_, now_)) << "no news";
  now_ = now_ + Duration::seconds(20);
  resolve(modem_);
  EXPECT_EQ(state(modem_), State::kVoid);
  EXPECT_FALSE(between_.confirm(modem_, now_));
  EXPECT_EQ(state(modem_), State::kVoid);
  now_ = now_ + BetweenGateways::kVoidFor;
  EXPECT_EQ(state(modem_), State::kUnknown);
  resolve(modem_);
  EXPECT_EQ(state(modem_), State::kHint);
}

TEST_P(BetweenGatewaysUnit, AFloodOfHintsPushesOutNoConfirmedAddress) {
  resolve(modem_);
  between_.confirm(modem_, now_);
  for (std::uint32_t i = 0; i < 10 * BetweenGateways::kAddresses; ++i) {
    const auto octet = [&](int shift) { return static_cast<std::uint8_t>(i >> shift); };
    const LanAddress other(IpAddress::v4({10, octet(16), octet(8), octet(0)}), Vlans{});
    between_.note_question(other, kHostMac, now_);
    between_.note_answer(other, kHostMac, kSoon, now_);
  }
  EXPECT_EQ(state(modem_), State::kConfirmed);
}

TEST_P(BetweenGatewaysUnit, AHostOfAnotherVlanOfThisLanIsAHint) {
  const LanAddress here = address("192.168.100.1", 7);
  between_.note_own(here, now_);
  EXPECT_EQ(state(here), State::kUnknown) << "no router stands in its own VLAN";
  EXPECT_EQ(state(modem_), State::kHint);
  EXPECT_EQ(state(address("192.168.100.1", 8)), State::kHint);
  EXPECT_EQ(state(address("192.168.100.2")), State::kUnknown);
  EXPECT_TRUE(between_.refute(modem_, now_));
  EXPECT_EQ(state(modem_), State::kVoid);
  now_ = now_ + BetweenGateways::kVoidFor;
  EXPECT_TRUE(between_.confirm(modem_, now_));
  EXPECT_EQ(state(modem_), State::kConfirmed);
  now_ = now_ + BetweenGateways::kKept;
  EXPECT_EQ(state(modem_), State::kHint) << "it is still there";
  now_ = now_ + BetweenGateways::kOwnKept;
  EXPECT_EQ(state(modem_), State::kUnknown);
}

// A server with an interface in its client's VLAN may use its address there, too.
TEST_P(BetweenGatewaysUnit, AnAddressThatSpeaksInTwoVlansIsAHintInBoth) {
  const LanAddress here = address("192.168.100.1", 7), there = address("192.168.100.1", 8);
  for (const LanAddress& each : {here, there, here, here}) between_.note_own(each, now_);
  EXPECT_EQ(state(here), State::kHint);
  EXPECT_EQ(state(there), State::kHint);
  now_ = now_ + BetweenGateways::kOwnKept - Duration::seconds(3600);
  between_.note_own(here, now_);
  now_ = now_ + Duration::seconds(7200);
  EXPECT_EQ(state(here), State::kUnknown) << "it is there alone";
  EXPECT_EQ(state(there), State::kHint);
}

}  // namespace
}  // namespace satrelay::gateway::between_gateways_test
