#include "pep/wire/ethernet.h"

#include <gtest/gtest.h>

#include "pep/wire/arp.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::wire::ethernet_test {
namespace {

TEST(Ethernet, ParsesUntaggedAndTagged) {
  const auto plain = parse_ethernet(octets("020000000001 020000000002 0800 45"));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->destination, *MacAddress::parse("02:00:00:00:00:01"));
  EXPECT_EQ(plain->source, *MacAddress::parse("02:00:00:00:00:02"));
  EXPECT_EQ(plain->tag_count, 0);
  EXPECT_EQ(plain->type, EtherType::kIpv4);
  EXPECT_EQ(plain->size(), 14U);

  const auto tagged = parse_ethernet(octets("020000000001 020000000002 8100 2064 86dd"));
  ASSERT_TRUE(tagged);
  EXPECT_EQ(tagged->tag_count, 1);
  EXPECT_EQ(tagged->tags[0], (VlanTag{.tpid = 0x8100, .tci = 0x2064}));
  EXPECT_EQ(tagged->tags[0].vlan_id(), 100);
  EXPECT_EQ(tagged->type, EtherType::kIpv6);

  const auto stacked = parse_ethernet(octets("020000000001 020000000002 88a8 0001 8100 0002 0806"));
  ASSERT_TRUE(stacked);
  EXPECT_EQ(stacked->tag_count, 2);
  EXPECT_EQ(stacked->tags[0].tpid, 0x88a8);
  EXPECT_EQ(stacked->tags[1].vlan_id(), 2);
  EXPECT_EQ(stacked->type, EtherType::kArp);
  EXPECT_EQ(stacked->size(), 22U);

  EXPECT_FALSE(
      parse_ethernet(octets("020000000001 020000000002 8100 0001 8100 0002 8100 0003 0800")));
}

TEST(Ethernet, EveryTruncationIsRefused) {
  const auto frame = octets("020000000001 020000000002 88a8 0001 8100 0002 0806");
  for (std::size_t size = 0; size < frame.size(); ++size) {
    EXPECT_FALSE(parse_ethernet(exact_copy(ConstBytes(frame).first(size)))) << size;
  }
  EXPECT_TRUE(parse_ethernet(frame));
}

TEST(Ethernet, WhatIsParsedIsWrittenBack) {
  Random random(1);
  int parsed_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto frame = random_octets(random, random.below(40));
    // Mostly with tags, which random octets alone would hardly ever have.
    for (std::size_t at = 12; at + 2 <= frame.size() && random.chance(0.6); at += 4) {
      store_u16(&frame[at], random.chance(0.5) ? 0x8100 : 0x88a8);
    }
    const auto header = parse_ethernet(frame);
    if (!header) continue;
    ++parsed_count;
    std::vector<std::byte> out(header->size());
    write_ethernet(*header, out);
    ASSERT_TRUE(std::equal(out.begin(), out.end(), frame.begin()));
    ASSERT_EQ(parse_ethernet(out), *header);
  }
  EXPECT_GT(parsed_count, 5000);
}

constexpr std::string_view kArpRequest =
    "0001 0800 06 04 0001 020000000001 c0000201 000000000000 c0000202";

TEST(Arp, ParsesAndWrites) {
  const auto bytes = octets(kArpRequest);
  const auto message = parse_arp(bytes);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->operation, ArpOperation::kRequest);
  EXPECT_EQ(message->sender_mac, *MacAddress::parse("02:00:00:00:00:01"));
  EXPECT_EQ(message->sender, *IpAddress::parse("192.0.2.1"));
  EXPECT_EQ(message->target_mac, MacAddress());
  EXPECT_EQ(message->target, *IpAddress::parse("192.0.2.2"));
  std::vector<std::byte> out(kArpSize);
  write_arp(*message, out);
  EXPECT_EQ(out, bytes);
}

TEST(Arp, EveryTruncationIsRefusedAndPaddingIsNot) {
  auto bytes = octets(kArpRequest);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_arp(exact_copy(ConstBytes(bytes).first(size)))) << size;
  }
  bytes.resize(46);
  EXPECT_TRUE(parse_arp(bytes));
}

TEST(Arp, RefusesOtherMedia) {
  for (std::size_t at = 0; at < 8; ++at) {
    auto bytes = octets(kArpRequest);
    bytes[at] ^= std::byte{0x40};
    EXPECT_FALSE(parse_arp(bytes)) << at;
  }
  auto rarp = octets(kArpRequest);
  rarp[7] = std::byte{3};
  EXPECT_FALSE(parse_arp(rarp));
}

}  // namespace
}  // namespace satrelay::wire::ethernet_test
