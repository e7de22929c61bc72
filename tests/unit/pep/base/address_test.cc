// Text forms of addresses and prefixes.
#include "pep/base/address.h"

#include <gtest/gtest.h>

#include "pep/base/random.h"

namespace satrelay::address_test {
namespace {

TEST(MacAddress, ParsesAndPrints) {
  const auto mac = MacAddress::parse("02:00:5E:10:aB:ff");
  ASSERT_TRUE(mac);
  EXPECT_EQ(mac->to_string(), "02:00:5e:10:ab:ff");
  EXPECT_FALSE(mac->is_multicast());
  EXPECT_TRUE(MacAddress::broadcast().is_multicast());
  for (const char* bad : {"", "02:00:5e:10:ab", "02:00:5e:10:ab:f", "02-00-5e-10-ab-ff",
                          "02:00:5e:10:ab:fg", "02:00:5e:10:ab:ff:", " 2:00:5e:10:ab:ff"}) {
    EXPECT_FALSE(MacAddress::parse(bad)) << bad;
  }
}

TEST(IpAddress, ParsesV4) {
  const auto address = IpAddress::parse("192.0.2.255");
  ASSERT_TRUE(address);
  EXPECT_TRUE(address->is_v4());
  EXPECT_EQ(*address, IpAddress::v4({192, 0, 2, 255}));
  EXPECT_EQ(address->to_string(), "192.0.2.255");
  EXPECT_EQ(IpAddress::parse("0.0.0.0"), IpAddress());
  EXPECT_TRUE(IpAddress::parse("239.1.2.3")->is_multicast());
  for (const char* bad :
       {"", ".", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.", ".1.2.3", "1..2.3", "01.2.3.4",
        "1.2.3.4 ", "1.2.3.-4", "1.2.3.+4", "0x1.2.3.4", "1.2.3.1000", "1.2.3.4/24"}) {
    EXPECT_FALSE(IpAddress::parse(bad)) << bad;
  }
}

TEST(IpAddress, ParsesV6AndPrintsTheCanonicalForm) {
  const struct {
    const char* text;
    const char* canonical;
  } cases[] = {
      {"::", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
      {"2001:db8::0:1", "2001:db8::1"},
      {"2001:0db8:0000:0042::", "2001:db8:0:42::"},
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},  // a single zero group is not shortened
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},  // of two equal runs, the first is shortened
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},        // the longest run is shortened
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
      {"::ffff:192.0.2.1", "::ffff:c000:201"},
      {"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
      {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
      {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
  };
  for (const auto& c : cases) {
    const auto address = IpAddress::parse(c.text);
    ASSERT_TRUE(address) << c.text;
    EXPECT_FALSE(address->is_v4());
    EXPECT_EQ(address->to_string(), c.canonical);
  }
  for (const char* bad :
       {":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", ":1::2",
        "1:2:", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1.2.3.4::", "::1.2.3", "::1.2.3.4:5",
        "1:2:3:4:5:6:7:1.2.3.4", "fe80::1%eth0", "::1/64"}) {
    EXPECT_FALSE(IpAddress::parse(bad)) << bad;
  }
}

TEST(IpAddress, EachOctetAndTheVersionTellTwoApart) {
  for (std::size_t i = 0; i < 16; ++i) {
    std::array<std::uint8_t, 16> octets{};
    const IpAddress zero = IpAddress::v6(octets);
    EXPECT_EQ(IpAddress::v6(octets), zero);
    octets[i] = 0x80;
    EXPECT_NE(IpAddress::v6(octets), zero) << "octet " << i;
    EXPECT_LT(zero, IpAddress::v6(octets));
  }
  EXPECT_NE(IpAddress::v4({}), IpAddress::v6({}));
}

TEST(MacAddress, EachOctetTellsTwoApart) {
  for (std::size_t i = 0; i < 6; ++i) {
    MacAddress address;
    EXPECT_EQ(address, MacAddress());
    address.octets[i] = 1;
    EXPECT_NE(address, MacAddress()) << "octet " << i;
  }
}

TEST(IpAddress, EveryAddressSurvivesItsText) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::array<std::uint8_t, 16> octets{};
    // Many zeros, so that runs of all lengths occur.
    for (auto& octet : octets) {
      octet = random.chance(0.7) ? std::uint8_t{0} : static_cast<std::uint8_t>(random.next());
    }
    const IpAddress v6 = IpAddress::v6(octets);
    ASSERT_EQ(IpAddress::parse(v6.to_string()), v6) << v6.to_string();
    const IpAddress v4 = IpAddress::v4({octets[0], octets[1], octets[2], octets[3]});
    ASSERT_EQ(IpAddress::parse(v4.to_string()), v4);
  }
}

TEST(IpAddress, ArbitraryTextIsHarmless) {
  constexpr std::string_view kAlphabet = "0123456789abcf:./ ";
  Random random(2);
  int accepted = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text(random.below(20), ' ');
    for (char& c : text) c = kAlphabet[random.below(kAlphabet.size())];
    if (const auto address = IpAddress::parse(text)) {
      ++accepted;
      EXPECT_EQ(IpAddress::parse(address->to_string()), address) << text;
    }
    if (const auto prefix = IpPrefix::parse(text)) {
      EXPECT_EQ(IpPrefix::parse(prefix->to_string()), prefix) << text;
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(IpPrefix, ParsesAndContains) {
  const auto net = IpPrefix::parse("198.51.100.0/22");
  ASSERT_TRUE(net);
  EXPECT_EQ(net->to_string(), "198.51.100.0/22");
  EXPECT_TRUE(net->contains(*IpAddress::parse("198.51.100.0")));
  EXPECT_TRUE(net->contains(*IpAddress::parse("198.51.103.255")));
  EXPECT_FALSE(net->contains(*IpAddress::parse("198.51.104.0")));
  EXPECT_FALSE(net->contains(*IpAddress::parse("198.51.99.255")));
  EXPECT_FALSE(net->contains(*IpAddress::parse("c633:6400::")));  // same octets, another version

  const auto v6 = IpPrefix::parse("2001:db8::/33");
  ASSERT_TRUE(v6);
  EXPECT_TRUE(v6->contains(*IpAddress::parse("2001:db8:7fff::1")));
  EXPECT_FALSE(v6->contains(*IpAddress::parse("2001:db8:8000::1")));

  EXPECT_TRUE(IpPrefix::parse("0.0.0.0/0")->contains(*IpAddress::parse("255.1.2.3")));
  EXPECT_TRUE(IpPrefix::parse("::/0")->contains(*IpAddress::parse("ffff::")));
  EXPECT_EQ(IpPrefix::parse("192.0.2.7")->length, 32);
  EXPECT_EQ(IpPrefix::parse("2001:db8::7")->length, 128);
  EXPECT_TRUE(IpPrefix::parse("192.0.2.7")->contains(*IpAddress::parse("192.0.2.7")));
  EXPECT_FALSE(IpPrefix::parse("192.0.2.7")->contains(*IpAddress::parse("192.0.2.6")));
  for (const char* bad : {"192.0.2.1/24", "192.0.2.0/33", "192.0.2.0/", "192.0.2.0/-1",
                          "192.0.2.0/24x", "/24", "2001:db8::1/64", "2001:db8::/129", ""}) {
    EXPECT_FALSE(IpPrefix::parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace satrelay::address_test
