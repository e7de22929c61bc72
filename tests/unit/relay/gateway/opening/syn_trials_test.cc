#include "relay/gateway/opening/syn_trials.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::syn_trials_test {
namespace {

using Sign = SynTrials::Sign;

constexpr Duration kWithin = Duration::milliseconds(300);

class SynTrialsTest : public ::testing::Test {
 protected:
  static FlowKey key(std::uint16_t port, std::uint8_t host = 1) {
    return {ip_of("203.0.113.5"), IpAddress::v4({192, 168, 100, host}), port, 80, {}};
  }
  static LanAddress address(std::uint8_t host = 1) {
    return {IpAddress::v4({192, 168, 100, host}), Vlans{}};
  }
  bool begin(std::uint16_t port, Sign sign = Sign::kHint, std::uint8_t host = 1) {
    return trials_.begin(
        address(host), sign,
        {.key = key(port, host), .sequence = port, .sent = now_, .within = kWithin});
  }
  bool has(std::uint16_t port) { return trials_.find(key(port), port, now_).syn != nullptr; }

  SynTrials trials_;
  Instant now_ = Instant() + Duration::seconds(100);
};

TEST_F(SynTrialsTest, ASynIsFoundByItsNumberUntilItIsOld) {
  EXPECT_FALSE(has(1));
  EXPECT_TRUE(begin(1));
  EXPECT_TRUE(has(1));
  EXPECT_EQ(trials_.find(key(1), 2, now_).syn, nullptr);
  EXPECT_EQ(trials_.find(key(2), 1, now_).syn, nullptr);
  EXPECT_FALSE(trials_.is_overdue(address(), now_));
  EXPECT_TRUE(trials_.is_overdue(address(), now_ + kWithin));
  now_ = now_ + SynTrials::kKept;
  EXPECT_FALSE(has(1));
  EXPECT_FALSE(trials_.is_overdue(address(), now_));
}

TEST_F(SynTrialsTest, AnAddressHasFewAndOnlyAConfirmedOneForgetsTheEarliest) {
  for (std::uint16_t port = 0; port < SynTrials::kMostSyns; ++port) EXPECT_TRUE(begin(port));
  EXPECT_FALSE(begin(100));
  trials_.end(key(0));
  EXPECT_TRUE(begin(100));
  trials_.trial_of(address())->sign = Sign::kConfirmed;
  EXPECT_FALSE(trials_.is_overdue(address(), now_ + kWithin));
  EXPECT_TRUE(begin(101, Sign::kConfirmed));
  EXPECT_FALSE(has(1));
  EXPECT_TRUE(has(2));
  EXPECT_TRUE(has(101));
}

// The answer to the first SYN may arrive soon after the second one.
TEST_F(SynTrialsTest, ARepeatedSynCountsFromTheFirst) {
  for (const Sign sign : {Sign::kHint, Sign::kConfirmed}) {
    const Instant first = now_;
    EXPECT_TRUE(begin(1, sign));
    now_ = now_ + Duration::seconds(1);
    EXPECT_TRUE(begin(1, sign));
    const auto* const syn = trials_.find(key(1), 1, now_).syn;
    ASSERT_NE(syn, nullptr);
    EXPECT_EQ(syn->sent, first);
    EXPECT_TRUE(syn->is_repeated);
    trials_.end(key(1));
    EXPECT_FALSE(has(1));
  }
}

TEST_F(SynTrialsTest, ASynThatHasWaitedOrIsAnsweredIsNotOverdue) {
  EXPECT_TRUE(begin(1));
  SynTrials::Syn& syn = *trials_.find(key(1), 1, now_).syn;
  syn.has_waited = true;
  EXPECT_FALSE(trials_.is_overdue(address(), now_ + kWithin));
  syn.has_waited = false;
  syn.answer = 7;
  EXPECT_FALSE(trials_.is_overdue(address(), now_ + kWithin));
  syn.answer.reset();
  EXPECT_TRUE(trials_.is_overdue(address(), now_ + kWithin));
}

TEST_F(SynTrialsTest, FewAddressesHaveSome) {
  constexpr std::size_t kHints = SynTrials::kMostUnconfirmed;
  for (std::uint8_t host = 1; host <= kHints; ++host) EXPECT_TRUE(begin(1, Sign::kHint, host));
  EXPECT_FALSE(begin(1, Sign::kHint, 100)) << "so many hints";
  const auto first = static_cast<std::uint8_t>(kHints + 1);
  for (std::uint8_t host = first; host <= SynTrials::kMostAddresses; ++host) {
    EXPECT_TRUE(begin(1, Sign::kConfirmed, host));
  }
  EXPECT_TRUE(begin(1, Sign::kConfirmed, 101)) << "another one that is confirmed gives way";
  EXPECT_EQ(trials_.trial_of(address(first)), nullptr);
  trials_.trial_of(address(5))->sign = Sign::kConfirmed;
  EXPECT_TRUE(begin(1, Sign::kHint, 100)) << "and to a hint";
  EXPECT_EQ(trials_.trial_of(address(5)), nullptr);
  trials_.trial_of(address(20))->until = now_;
  EXPECT_TRUE(begin(1, Sign::kHint, 102)) << "the one that is over gives way first";
  EXPECT_EQ(trials_.trial_of(address(20)), nullptr);
  now_ = now_ + SynTrials::kKept;
  EXPECT_TRUE(begin(1, Sign::kHint, 103));
}

}  // namespace
}  // namespace satrelay::gateway::syn_trials_test
