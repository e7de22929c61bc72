#include "pep/wire/ip.h"

#include <gtest/gtest.h>

#include "pep/wire/checksum.h"
#include "pep/wire/udp.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::wire::ip_test {
namespace {

// A published example header (its checksum b861 is right), with a payload added.
std::vector<std::byte> v4_packet() {
  auto bytes = octets("4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7");
  bytes.resize(0x73);
  return bytes;
}

// Writes the right checksum into an IPv4 header that the caller has changed.
void finish_v4(std::vector<std::byte>& packet) {
  const std::size_t size = std::size_t{load_u8(packet.data()) & 0x0fU} * 4;
  store_u16(&packet[10], 0);
  store_u16(&packet[10], static_cast<std::uint16_t>(~checksum_sum(ConstBytes(packet).first(size))));
}

TEST(Ipv4, ParsesAKnownHeader) {
  const auto header = parse_ip(v4_packet());
  ASSERT_TRUE(header);
  EXPECT_EQ(header->source, *IpAddress::parse("192.168.0.1"));
  EXPECT_EQ(header->destination, *IpAddress::parse("192.168.0.199"));
  EXPECT_EQ(header->protocol, kProtocolUdp);
  EXPECT_EQ(header->hop_limit, 64);
  EXPECT_TRUE(header->dont_fragment);
  EXPECT_FALSE(header->is_fragment());
  EXPECT_FALSE(header->has_options());
  EXPECT_EQ(header->header_size, 20);
  EXPECT_EQ(header->payload_size, 0x73 - 20);
}

TEST(Ipv4, EveryTruncationIsRefusedAndPaddingIsNot) {
  auto packet = v4_packet();
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_FALSE(parse_ip(exact_copy(ConstBytes(packet).first(size)))) << size;
  }
  packet.resize(200);
  const auto padded = parse_ip(packet);
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->payload_size, 0x73 - 20);
}

TEST(Ipv4, EveryFlippedHeaderBitIsSeen) {
  for (std::size_t bit = 0; bit < 160; ++bit) {
    auto packet = v4_packet();
    packet[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto header = parse_ip(packet);
    // One flipped bit turns version 4 into 6, and an IPv6 header has no checksum.
    EXPECT_FALSE(header && header->source.is_v4()) << bit;
    EXPECT_EQ(header.has_value(), bit == 5) << bit;
  }
}

TEST(Ipv4, ImpossibleLengthsAreRefused) {
  auto packet = v4_packet();
  packet[0] = std::byte{0x44};  // a header shorter than it must be
  finish_v4(packet);
  EXPECT_FALSE(parse_ip(packet));
  packet = v4_packet();
  packet[0] = std::byte{0x46};  // options, and then a total length below that of the header
  finish_v4(packet);
  const auto with_options = parse_ip(packet);
  ASSERT_TRUE(with_options);
  EXPECT_TRUE(with_options->has_options());
  EXPECT_EQ(with_options->header_size, 24);
  EXPECT_EQ(with_options->payload_size, 0x73 - 24);
  store_u16(&packet[2], 23);
  finish_v4(packet);
  EXPECT_FALSE(parse_ip(packet));
}

TEST(Ipv4, Fragments) {
  auto packet = v4_packet();
  store_u16(&packet[6], 0x2000);
  finish_v4(packet);
  auto header = parse_ip(packet);
  ASSERT_TRUE(header);
  EXPECT_TRUE(header->is_fragment());
  EXPECT_TRUE(header->is_first_fragment());
  EXPECT_FALSE(header->dont_fragment);
  store_u16(&packet[6], 0x1fff);  // the last fragment there can be
  finish_v4(packet);
  header = parse_ip(packet);
  ASSERT_TRUE(header);
  EXPECT_TRUE(header->is_fragment());
  EXPECT_FALSE(header->is_first_fragment());
  EXPECT_EQ(header->fragment_offset, 65'528);
}

TEST(Ipv6, ParsesAndWrites) {
  auto packet = octets(
      "6ab 12345 0008 11 3f 20010db8000000000000000000000001 20010db8000000000000000000000002"
      "0000000000000000");
  const auto header = parse_ip(packet);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->source, *IpAddress::parse("2001:db8::1"));
  EXPECT_EQ(header->destination, *IpAddress::parse("2001:db8::2"));
  EXPECT_EQ(header->traffic_class, 0xab);
  EXPECT_EQ(header->flow_label, 0x12345U);
  EXPECT_EQ(header->protocol, kProtocolUdp);
  EXPECT_EQ(header->hop_limit, 63);
  EXPECT_EQ(header->header_size, 40);
  EXPECT_EQ(header->payload_size, 8);
  EXPECT_FALSE(header->is_fragment());
  EXPECT_FALSE(header->has_options());
  std::vector<std::byte> out(kIpv6HeaderSize);
  EXPECT_EQ(write_ip(*header, out), kIpv6HeaderSize);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), packet.begin()));
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_FALSE(parse_ip(exact_copy(ConstBytes(packet).first(size)))) << size;
  }
  packet.resize(100);
  EXPECT_EQ(parse_ip(packet)->payload_size, 8);
}

TEST(Ip, WhatIsWrittenIsParsedBack) {
  Random random(1);
  for (int i = 0; i < 5000; ++i) {
    IpHeader header;
    const bool v4 = random.chance(0.5);
    std::array<std::uint8_t, 16> a{};
    for (auto& octet : a) octet = static_cast<std::uint8_t>(random.next());
    header.source = v4 ? IpAddress::v4({a[0], a[1], a[2], a[3]}) : IpAddress::v6(a);
    for (auto& octet : a) octet = static_cast<std::uint8_t>(random.next());
    header.destination = v4 ? IpAddress::v4({a[0], a[1], a[2], a[3]}) : IpAddress::v6(a);
    header.protocol = static_cast<std::uint8_t>(random.next());
    header.traffic_class = static_cast<std::uint8_t>(random.next());
    header.hop_limit = static_cast<std::uint8_t>(random.next());
    header.payload_size = static_cast<std::uint16_t>(random.below(2000));
    if (v4) {
      header.identification = static_cast<std::uint16_t>(random.next());
      header.dont_fragment = random.chance(0.5);
      header.more_fragments = random.chance(0.5);
      header.fragment_offset = static_cast<std::uint16_t>(random.below(8192) * 8);
    } else {
      header.flow_label = static_cast<std::uint32_t>(random.below(1U << 20));
    }
    std::vector<std::byte> packet(40U + header.payload_size);
    const std::size_t size = write_ip(header, packet);
    const auto parsed = parse_ip(packet);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->header_size, size);
    EXPECT_EQ(parsed->source, header.source);
    EXPECT_EQ(parsed->destination, header.destination);
    EXPECT_EQ(parsed->protocol, header.protocol);
    EXPECT_EQ(parsed->traffic_class, header.traffic_class);
    EXPECT_EQ(parsed->hop_limit, header.hop_limit);
    EXPECT_EQ(parsed->payload_size, header.payload_size);
    EXPECT_EQ(parsed->flow_label, header.flow_label);
    if (v4) {
      EXPECT_EQ(parsed->identification, header.identification);
      EXPECT_EQ(parsed->dont_fragment, header.dont_fragment);
      EXPECT_EQ(parsed->more_fragments, header.more_fragments);
      EXPECT_EQ(parsed->fragment_offset, header.fragment_offset);
    }
  }
}

TEST(Ip, RandomOctetsAreHarmless) {
  Random random(2);
  int parsed_count = 0;
  for (int i = 0; i < 200'000; ++i) {
    auto packet = random_octets(random, random.below(120));
    if (packet.size() >= 20 && random.chance(0.8)) {
      packet[0] = random.chance(0.5) ? std::byte{0x60} : std::byte(0x40 | random.below(16));
      store_u16(&packet[2], static_cast<std::uint16_t>(random.below(130)));
      const std::size_t header_size = std::size_t{load_u8(packet.data()) & 0x0fU} * 4;
      if (header_size <= packet.size() && header_size >= 20) finish_v4(packet);
      store_u16(&packet[4], static_cast<std::uint16_t>(random.below(100)));
    }
    if (const auto header = parse_ip(packet)) {
      ++parsed_count;
      ASSERT_LE(std::size_t{header->header_size} + header->payload_size, packet.size());
    }
  }
  EXPECT_GT(parsed_count, 1000);
}

TEST(Udp, ParsesAndWrites) {
  const auto datagram = octets("1f90 0035 000c 1234 61626364");
  const auto header = parse_udp(datagram);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->source_port, 8080);
  EXPECT_EQ(header->destination_port, 53);
  EXPECT_EQ(header->length, 12);
  EXPECT_EQ(header->checksum, 0x1234);
  std::vector<std::byte> out(kUdpHeaderSize);
  write_udp(*header, out);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), datagram.begin()));
  for (std::size_t size = 0; size < datagram.size(); ++size) {
    EXPECT_FALSE(parse_udp(exact_copy(ConstBytes(datagram).first(size)))) << size;
  }
  EXPECT_FALSE(parse_udp(octets("1f90 0035 0007 1234 61626364")));
  EXPECT_TRUE(parse_udp(octets("1f90 0035 0008 1234 61626364")));
}

}  // namespace
}  // namespace satrelay::wire::ip_test
