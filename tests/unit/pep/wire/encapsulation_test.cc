// IP packets within PPPoE and under MPLS labels.
#include "pep/wire/encapsulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace satrelay::wire::encapsulation_test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<unsigned> octets) {
  Bytes bytes;
  for (const unsigned octet : octets) bytes.push_back(static_cast<std::byte>(octet));
  return bytes;
}
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes ip_packet(bool v4 = true, std::size_t payload = 30) {
  IpHeader ip;
  ip.source = *IpAddress::parse(v4 ? "10.0.0.1" : "2001:db8::1");
  ip.destination = *IpAddress::parse(v4 ? "10.0.0.2" : "2001:db8::2");
  ip.protocol = kProtocolUdp;
  ip.payload_size = static_cast<std::uint16_t>(payload);
  Bytes packet(kIpv6HeaderSize + payload);
  packet.resize(write_ip(ip, packet) + payload);
  return packet;
}

Bytes pppoe(const Bytes& ppp, unsigned session = 7) {
  Bytes header(6);
  header[0] = std::byte{0x11};
  store_u16(&header[2], static_cast<std::uint16_t>(session));
  store_u16(&header[4], static_cast<std::uint16_t>(ppp.size()));
  return header + ppp;
}
Bytes ipv4_session() { return pppoe(bytes_of({0x00, 0x21}) + ip_packet()); }

Bytes labels(std::initializer_list<std::uint32_t> values) {
  Bytes stack(4 * values.size());
  std::size_t at = 0;
  for (const std::uint32_t value : values) {
    const bool is_bottom = at + 4 == stack.size();
    store_u32(&stack[at], (value << 12) | (is_bottom ? 0x100U : 0U) | 64U);
    at += 4;
  }
  return stack;
}

TEST(Pppoe, ASessionHasItsNumberItsProtocolAndWhatLengthSays) {
  const Bytes frame = pppoe(bytes_of({0xc0, 0x21, 1, 2, 3}), 0x1234) + Bytes(30);
  const auto parsed = parse_pppoe(frame);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->session, 0x1234);
  EXPECT_EQ(parsed->protocol, 0xc021);
  EXPECT_EQ(parsed->payload.size(), 3U);
}

TEST(Pppoe, AProtocolMayBeOneOctet) {
  const auto parsed = parse_pppoe(pppoe(bytes_of({0x21}) + ip_packet()));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->protocol, kPppIpv4);
  EXPECT_TRUE(ip_in_pppoe(pppoe(bytes_of({0x21}) + ip_packet())));
}

TEST(Pppoe, IsNoneThatIsCutShortOrOfAnotherKind) {
  const Bytes whole = ipv4_session();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_pppoe(ConstBytes(whole).first(size))) << size;
  }
  Bytes other = whole;
  other[0] = std::byte{0x21};
  EXPECT_FALSE(parse_pppoe(other)) << "version 2";
  other = whole;
  other[1] = std::byte{0xa7};
  EXPECT_FALSE(parse_pppoe(other)) << "PADT";
  EXPECT_FALSE(parse_pppoe(pppoe({}))) << "without a protocol";
  EXPECT_FALSE(parse_pppoe(pppoe(bytes_of({0x00})))) << "half a protocol";
}

TEST(IpInPppoe, IsThePacketWithoutWhatFollowsIt) {
  for (const bool v4 : {true, false}) {
    const Bytes packet = ip_packet(v4);
    const Bytes protocol = bytes_of({0x00, v4 ? 0x21U : 0x57U});
    const Bytes frame = pppoe(protocol + packet + Bytes(2)) + Bytes(9);
    const auto found = ip_in_pppoe(frame);
    ASSERT_TRUE(found);
    EXPECT_TRUE(std::ranges::equal(*found, packet));
  }
}

TEST(IpInPppoe, IsNoneIfItsHeaderDisagrees) {
  EXPECT_FALSE(ip_in_pppoe(pppoe(bytes_of({0x00, 0x57}) + ip_packet()))) << "IPv4 as IPv6";
  EXPECT_FALSE(ip_in_pppoe(pppoe(bytes_of({0xc0, 0x21}) + ip_packet()))) << "LCP";
  Bytes frame = ipv4_session();
  frame[8 + 10] ^= std::byte{1};
  EXPECT_FALSE(ip_in_pppoe(frame)) << "checksum";
  frame = pppoe(bytes_of({0x00, 0x57}) + ip_packet(false));
  store_u16(&frame[8 + 4], 31);
  EXPECT_FALSE(ip_in_pppoe(frame)) << "longer than there is";
}

TEST(Mpls, TellsTheLabelsAndWhatIsBehindThem) {
  const auto two = parse_mpls(labels({16, 0xfffff}) + Bytes(10));
  ASSERT_TRUE(two);
  EXPECT_EQ(two->label_count, 2U);
  EXPECT_EQ(two->labels, (std::array<std::uint32_t, 3>{16, 0xfffff, 0}));
  EXPECT_TRUE(two->has_bottom);
  EXPECT_EQ(two->payload.size(), 10U);
  const auto four = parse_mpls(labels({16, 17, 18, 19}) + Bytes(10));
  ASSERT_TRUE(four);
  EXPECT_EQ(four->label_count, 3U);
  EXPECT_FALSE(four->has_bottom);
  EXPECT_FALSE(parse_mpls(Bytes(3)));
}

TEST(IpInMpls, IsUnderOneToThreeLabels) {
  for (const bool v4 : {true, false}) {
    const Bytes packet = ip_packet(v4);
    EXPECT_TRUE(std::ranges::equal(*ip_in_mpls(labels({16}) + packet), packet));
    EXPECT_TRUE(ip_in_mpls(labels({16, 17}) + packet));
    EXPECT_TRUE(ip_in_mpls(labels({16, 17, 18}) + packet));
    EXPECT_FALSE(ip_in_mpls(labels({16, 17, 18, 19}) + packet));
    EXPECT_FALSE(ip_in_mpls(packet));
    const Bytes whole = labels({16}) + packet;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(ip_in_mpls(ConstBytes(whole).first(size))) << size;
    }
  }
}

// A pseudowire may carry a frame that begins with any octet (RFC 4928 section 3).
TEST(IpInMpls, IsNoneIfVersionLengthsOrChecksumDisagree) {
  for (unsigned first = 0; first < 256; ++first) {
    Bytes packet = ip_packet();
    packet[0] = static_cast<std::byte>(first);
    EXPECT_EQ(ip_in_mpls(labels({16}) + packet).has_value(), first == 0x45) << first;
  }
  Bytes packet = ip_packet();
  packet[10] ^= std::byte{1};
  EXPECT_FALSE(ip_in_mpls(labels({16}) + packet)) << "checksum";
  EXPECT_FALSE(ip_in_mpls(labels({16}) + ip_packet(false) + Bytes(1)))
      << "IPv6 that ends before the frame does";
  EXPECT_TRUE(ip_in_mpls(labels({16}) + ip_packet(false, 1) + Bytes(1)))
      << "but for what Ethernet pads";
}

}  // namespace
}  // namespace satrelay::wire::encapsulation_test
