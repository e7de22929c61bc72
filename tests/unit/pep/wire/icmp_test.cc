#include "pep/wire/icmp.h"

#include <gtest/gtest.h>

#include "pep/wire/checksum.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::wire::icmp_test {
namespace {

IpHeader ip_of(const char* source, const char* destination) {
  IpHeader ip;
  ip.source = *IpAddress::parse(source);
  ip.destination = *IpAddress::parse(destination);
  ip.protocol = ip.source.is_v4() ? kProtocolIcmp : kProtocolIcmpV6;
  return ip;
}

const IpHeader kV4 = ip_of("192.0.2.1", "192.0.2.2");
const IpHeader kV6 = ip_of("2001:db8::1", "2001:db8::2");

TEST(Icmp, EchoRoundTrip) {
  const auto body = octets("6162636465");
  for (const IpHeader& ip : {kV4, kV6}) {
    const IcmpMessage echo{.type = ip.source.is_v4() ? kIcmpEchoRequest : kIcmpV6EchoRequest,
                           .code = 0,
                           .rest = 0x12340001,
                           .body = body};
    std::vector<std::byte> out(kIcmpHeaderSize + body.size());
    ASSERT_EQ(write_icmp(ip, echo, out), out.size());
    const auto parsed = parse_icmp(ip, out);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->type, echo.type);
    EXPECT_EQ(parsed->rest, echo.rest);
    EXPECT_EQ(exact_copy(parsed->body), body);
    EXPECT_FALSE(is_icmp_error(ip, *parsed));
    for (std::size_t size = 0; size < out.size(); ++size) {
      EXPECT_FALSE(parse_icmp(ip, exact_copy(ConstBytes(out).first(size)))) << size;
    }
    for (std::size_t bit = 0; bit < out.size() * 8; ++bit) {
      auto flipped = out;
      flipped[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_FALSE(parse_icmp(ip, flipped)) << bit;
    }
  }
}

TEST(Icmp, AKnownEchoRequest) {
  // Type 8, id 1, sequence 1, no body. So the checksum is ~(0800 + 0001 + 0001).
  std::vector<std::byte> out(kIcmpHeaderSize);
  write_icmp(kV4, {.type = kIcmpEchoRequest, .rest = 0x00010001}, out);
  EXPECT_EQ(out, octets("0800 f7fd 0001 0001"));
}

TEST(Icmp, TheV6ChecksumCoversTheAddresses) {
  std::vector<std::byte> out(kIcmpHeaderSize);
  write_icmp(kV6, {.type = kIcmpV6EchoRequest}, out);
  EXPECT_TRUE(parse_icmp(kV6, out));
  EXPECT_FALSE(parse_icmp(ip_of("2001:db8::1", "2001:db8::3"), out));
}

IcmpMessage of_type(unsigned type) { return {.type = static_cast<std::uint8_t>(type)}; }

TEST(Icmp, TellsErrorsFromOthers) {
  for (const unsigned type : {3U, 4U, 11U, 12U}) {
    EXPECT_TRUE(is_icmp_error(kV4, of_type(type))) << type;
  }
  for (const unsigned type : {0U, 5U, 8U, 9U, 13U}) {
    EXPECT_FALSE(is_icmp_error(kV4, of_type(type))) << type;
  }
  for (const unsigned type : {1U, 2U, 3U, 4U, 127U}) {
    EXPECT_TRUE(is_icmp_error(kV6, of_type(type))) << type;
  }
  for (const unsigned type : {128U, 129U, 135U, 136U, 255U}) {
    EXPECT_FALSE(is_icmp_error(kV6, of_type(type))) << type;
  }
}

// The IP header of a full-sized packet, with a wrong checksum, and the first 8 octets of its
// segment.
constexpr std::string_view kQuotedV4 =
    "4500 05dc 1234 4000 3f06 dead c0000201 c6336402 c000 0050 01020304";
constexpr std::string_view kQuotedV6 =
    "60000000 05b4 06 3f 20010db8000000000000000000000001 20010db8000000000000000000000002"
    "c000 0050 01020304";

void expect_quoted_flow(const std::optional<QuotedFlow>& flow) {
  ASSERT_TRUE(flow);
  EXPECT_EQ(flow->protocol, kProtocolTcp);
  EXPECT_EQ(flow->source_port, 0xc000);
  EXPECT_EQ(flow->destination_port, 80);
  EXPECT_EQ(flow->sequence, 0x01020304U);
}

TEST(QuotedFlow, ReadsEightQuotedOctets) {
  const auto v4 = octets(kQuotedV4);
  const auto flow = parse_quoted_flow(kV4, {.type = kIcmpUnreachable, .body = v4});
  expect_quoted_flow(flow);
  EXPECT_EQ(flow->source, *IpAddress::parse("192.0.2.1"));
  EXPECT_EQ(flow->destination, *IpAddress::parse("198.51.100.2"));

  const auto v6 = octets(kQuotedV6);
  const auto flow6 = parse_quoted_flow(kV6, {.type = kIcmpV6PacketTooBig, .body = v6});
  expect_quoted_flow(flow6);
  EXPECT_EQ(flow6->source, *IpAddress::parse("2001:db8::1"));
  EXPECT_EQ(flow6->destination, *IpAddress::parse("2001:db8::2"));

  // An error of one version cannot quote the other.
  EXPECT_FALSE(parse_quoted_flow(kV6, {.body = v4}));
  EXPECT_FALSE(parse_quoted_flow(kV4, {.body = v6}));
}

TEST(QuotedFlow, EveryTruncationIsRefused) {
  const auto v4 = octets(kQuotedV4);
  for (std::size_t size = 0; size < v4.size(); ++size) {
    const auto cut = exact_copy(ConstBytes(v4).first(size));
    EXPECT_FALSE(parse_quoted_flow(kV4, {.body = cut})) << size;
  }
  const auto v6 = octets(kQuotedV6);
  for (std::size_t size = 0; size < v6.size(); ++size) {
    const auto cut = exact_copy(ConstBytes(v6).first(size));
    EXPECT_FALSE(parse_quoted_flow(kV6, {.body = cut})) << size;
  }
}

TEST(QuotedFlow, OptionsAndFragments) {
  const auto with_options =
      octets("4600 05dc 1234 4000 3f11 0000 c0000201 c6336402 94040000 c000 0035 01020304");
  const auto flow = parse_quoted_flow(kV4, {.body = with_options});
  ASSERT_TRUE(flow);
  EXPECT_EQ(flow->protocol, kProtocolUdp);
  EXPECT_EQ(flow->destination_port, 53);
  EXPECT_EQ(flow->sequence, 0U);

  auto fragment = octets(kQuotedV4);
  store_u16(&fragment[6], 0x2000);
  EXPECT_TRUE(parse_quoted_flow(kV4, {.body = fragment}));
  store_u16(&fragment[6], 0x0001);
  EXPECT_FALSE(parse_quoted_flow(kV4, {.body = fragment}));
  fragment[0] = std::byte{0x44};  // impossible header length
  EXPECT_FALSE(parse_quoted_flow(kV4, {.body = fragment}));

  auto v6 = octets(
      "60000000 05b4 2c 3f 20010db8000000000000000000000001 20010db8000000000000000000000002"
      "06 00 0001 00000007 c000 0050 01020304");
  expect_quoted_flow(parse_quoted_flow(kV6, {.body = v6}));
  store_u16(&v6[42], 0x0009);
  EXPECT_FALSE(parse_quoted_flow(kV6, {.body = v6}));
  for (std::size_t size = 0; size < v6.size(); ++size) {
    const auto cut = exact_copy(ConstBytes(v6).first(size));
    EXPECT_FALSE(parse_quoted_flow(kV6, {.body = cut})) << size;
  }
}

TEST(QuotedFlow, OtherProtocolsHaveNoPorts) {
  auto quote = octets(kQuotedV4);
  quote[9] = std::byte{kProtocolIcmp};
  const auto flow = parse_quoted_flow(kV4, {.body = quote});
  ASSERT_TRUE(flow);
  EXPECT_EQ(flow->source_port, 0);
  EXPECT_EQ(flow->sequence, 0U);
}

TEST(Neighbour, SolicitationOctets) {
  const IpHeader ip = ip_of("fe80::1", "ff02::1:ff00:2");
  const NeighbourMessage message{.target = *IpAddress::parse("fe80::2"),
                                 .link_layer = MacAddress::parse("02:00:00:00:00:01")};
  std::vector<std::byte> out(100);
  const std::size_t size = write_neighbour(ip, message, out);
  EXPECT_EQ(size, 32U);
  out.resize(size);
  ASSERT_TRUE(transport_checksum_ok(ip.source, ip.destination, kProtocolIcmpV6, out));
  store_u16(&out[2], 0);
  EXPECT_EQ(out, octets("8700 0000 00000000 fe800000000000000000000000000002 0101 020000000001"));
}

TEST(Neighbour, RoundTrip) {
  for (const bool advertisement : {false, true}) {
    for (const bool with_address : {false, true}) {
      NeighbourMessage message{.advertisement = advertisement,
                               .target = *IpAddress::parse("2001:db8::7")};
      if (with_address) message.link_layer = MacAddress::parse("02:00:00:00:00:07");
      std::vector<std::byte> out(32);
      out.resize(write_neighbour(kV6, message, out));
      const auto icmp = parse_icmp(kV6, out);
      ASSERT_TRUE(icmp);
      EXPECT_EQ(icmp->rest, advertisement ? 0x6000'0000U : 0U);  // solicited and override
      const auto parsed = parse_neighbour(*icmp);
      ASSERT_TRUE(parsed);
      EXPECT_EQ(parsed->advertisement, advertisement);
      EXPECT_EQ(parsed->target, message.target);
      EXPECT_EQ(parsed->link_layer, message.link_layer);
      // A message that is cut within an option is refused.
      for (std::size_t size = 0; size < icmp->body.size(); ++size) {
        const auto cut = exact_copy(icmp->body.first(size));
        EXPECT_EQ(parse_neighbour({.type = icmp->type, .body = cut}).has_value(), size == 16)
            << size;
      }
    }
  }
}

TEST(Neighbour, AnAdvertisementToAGroupIsNotSolicited) {
  std::vector<std::byte> out(32);
  const IpHeader ip = ip_of("fe80::1", "ff02::1");
  write_neighbour(ip, {.advertisement = true, .target = ip.source}, out);
  EXPECT_EQ(load_u32(&out[4]), 0x2000'0000U);
}

TEST(Neighbour, MalformedMessagesAreRefused) {
  const auto body = [](std::string_view options) {
    return octets(std::string("20010db8000000000000000000000007") + std::string(options));
  };
  const auto parse = [](const std::vector<std::byte>& bytes, std::uint8_t code = 0) {
    return parse_neighbour({.type = kIcmpV6NeighbourSolicitation, .code = code, .body = bytes});
  };
  EXPECT_TRUE(parse(body("")));
  EXPECT_FALSE(parse(body(""), 1));
  EXPECT_FALSE(parse(body("0100 020000000001")));                   // length zero
  EXPECT_FALSE(parse(body("0102 020000000001")));                   // extends beyond the end
  EXPECT_FALSE(parse(body("0102 020000000001 0000000000000000")));  // wrong length
  EXPECT_FALSE(parse(octets("ff020000000000000000000000000001")));  // the target is a group
  EXPECT_FALSE(parse_neighbour({.type = 133, .body = {}}));
  // Unknown options are skipped, and so is the link-layer option of the other kind of message.
  const auto other = parse(body("0201 020000000009 0e01 000102030405 0101 020000000001"));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->link_layer, MacAddress::parse("02:00:00:00:00:01"));
}

TEST(Icmp, RandomOctetsAreHarmless) {
  Random random(5);
  for (int i = 0; i < 200'000; ++i) {
    auto bytes = random_octets(random, random.below(120));
    const IpHeader& ip = random.chance(0.5) ? kV4 : kV6;
    if (!bytes.empty() && random.chance(0.7)) {
      bytes[0] = ip.source.is_v4() ? std::byte(0x40 | random.below(16)) : std::byte{0x60};
    }
    parse_icmp(ip, bytes);
    const IcmpMessage message{.type = static_cast<std::uint8_t>(135 + random.below(2)),
                              .body = bytes};
    parse_neighbour(message);
    parse_quoted_flow(ip, message);
  }
}

}  // namespace
}  // namespace satrelay::wire::icmp_test
