#include "relay/gateway/rules/address_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "pep/base/random.h"

namespace satrelay::gateway::address_steps_test {
namespace {

using Entries = std::vector<AddressSteps::Entry>;

// Its value is the largest id that holds.
class Largest final : public AddressSteps::Walker {
 public:
  void enter(std::uint32_t id) override { holding_.insert(id); }
  void leave(std::uint32_t id) override { holding_.erase(holding_.find(id)); }
  std::uint32_t value() override { return holding_.empty() ? 0 : *holding_.rbegin(); }
  bool is_empty() const { return holding_.empty(); }

 private:
  std::multiset<std::uint32_t> holding_;
};

AddressSteps steps_of(const Entries& entries) {
  Largest largest;
  AddressSteps steps(entries, largest);
  EXPECT_TRUE(largest.is_empty());  // each id that was entered was left
  return steps;
}

AddressSteps::Entry entry(std::string_view prefix, std::uint32_t id) {
  return {*IpPrefix::parse(prefix), id};
}
IpAddress ip(std::string_view text) { return *IpAddress::parse(text); }

TEST(AddressSteps, OfNoPrefixesAreZeroEverywhere) {
  for (const AddressSteps& steps : {AddressSteps(), steps_of({})}) {
    EXPECT_EQ(steps.find(ip("0.0.0.0")), 0U);
    EXPECT_EQ(steps.find(ip("255.255.255.255")), 0U);
    EXPECT_EQ(steps.find(ip("ffff::")), 0U);
  }
}

TEST(AddressSteps, ChangeWhereAPrefixBeginsAndBehindItsEnd) {
  const AddressSteps steps = steps_of({entry("10.1.0.0/16", 2), entry("10.0.0.0/8", 1)});
  EXPECT_EQ(steps.find(ip("9.255.255.255")), 0U);
  EXPECT_EQ(steps.find(ip("10.0.0.0")), 1U);
  EXPECT_EQ(steps.find(ip("10.0.255.255")), 1U);
  EXPECT_EQ(steps.find(ip("10.1.0.0")), 2U);
  EXPECT_EQ(steps.find(ip("10.1.255.255")), 2U);
  EXPECT_EQ(steps.find(ip("10.2.0.0")), 1U);
  EXPECT_EQ(steps.find(ip("10.255.255.255")), 1U);
  EXPECT_EQ(steps.find(ip("11.0.0.0")), 0U);
}

TEST(AddressSteps, HoldToTheLastAddress) {
  const AddressSteps steps =
      steps_of({entry("0.0.0.0/0", 1), entry("255.255.255.255", 3), entry("ffff::/16", 4)});
  EXPECT_EQ(steps.find(ip("0.0.0.0")), 1U);
  EXPECT_EQ(steps.find(ip("255.255.255.254")), 1U);
  EXPECT_EQ(steps.find(ip("255.255.255.255")), 3U);
  EXPECT_EQ(steps.find(ip("fffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff")), 0U);
  EXPECT_EQ(steps.find(ip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")), 4U);
}

TEST(AddressSteps, TheFamiliesHaveNothingToDoWithEachOther) {
  const AddressSteps steps = steps_of({entry("0.0.0.0/0", 1), entry("::/0", 2)});
  EXPECT_EQ(steps.find(ip("192.0.2.1")), 1U);
  EXPECT_EQ(steps.find(ip("2001:db8::1")), 2U);
}

TEST(AddressSteps, FindWhatTryingAllPrefixesFinds) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    Entries entries;
    const auto count = static_cast<std::uint32_t>(random.below(40));
    for (std::uint32_t id = 1; id <= count; ++id) {
      // Few bits differ, so that prefixes overlap, touch and repeat.
      const auto high = static_cast<std::uint8_t>(random.below(3) * 127);
      const auto low = static_cast<std::uint8_t>(random.below(4) * 85);
      const auto length = static_cast<std::uint8_t>(random.below(33));
      IpAddress address = IpAddress::v4({high, low, high, low});
      std::array<std::uint8_t, 4> octets{};
      for (std::size_t bit = 0; bit < length; ++bit) {
        const unsigned kept = octets[bit / 8] | (address.octets()[bit / 8] & (0x80U >> bit % 8));
        octets[bit / 8] = static_cast<std::uint8_t>(kept);
      }
      entries.push_back({{IpAddress::v4(octets), length}, id});
    }
    const AddressSteps steps = steps_of(entries);
    for (int i = 0; i < 200; ++i) {
      const auto octet = [&] { return static_cast<std::uint8_t>(random.below(4) * 85); };
      const IpAddress address = IpAddress::v4({octet(), octet(), octet(), octet()});
      std::uint32_t largest = 0;
      for (const auto& each : entries) {
        if (each.prefix.contains(address)) largest = std::max(largest, each.id);
      }
      ASSERT_EQ(steps.find(address), largest) << round << ' ' << address.to_string();
    }
  }
}

}  // namespace
}  // namespace satrelay::gateway::address_steps_test
