#include "pep/wire/whole_packet.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/wire/large_frame.h"

namespace satrelay::wire::whole_packet_test {
namespace {

std::vector<std::byte> packet_of(const LargeFrame& large) {
  const auto frame = large.write();
  return exact_copy(ConstBytes(frame).subspan(14));
}

TEST(WholePacket, EndsWhereItsLengthSays) {
  for (const bool is_v4 : {true, false}) {
    auto bytes = packet_of({.is_v4 = is_v4, .payload = 100});
    const std::size_t size = bytes.size();
    bytes.resize(size + 6);
    const auto packet = parse_whole_packet(bytes, is_v4 ? EtherType::kIpv4 : EtherType::kIpv6);
    ASSERT_TRUE(packet);
    EXPECT_EQ(packet->size, size);
    EXPECT_EQ(packet->transport_at, is_v4 ? 20U : 40U);
    EXPECT_EQ(packet->protocol, kProtocolTcp);
    EXPECT_FALSE(parse_whole_packet(bytes, is_v4 ? EtherType::kIpv6 : EtherType::kIpv4));
    EXPECT_FALSE(parse_whole_packet(bytes, EtherType::kArp));
    bytes.resize(size - 1);
    EXPECT_FALSE(parse_whole_packet(
        exact_copy(bytes), packet->ip.source.is_v4() ? EtherType::kIpv4 : EtherType::kIpv6));
  }
}

TEST(WholePacket, IsReadPastExtensionHeaders) {
  const auto parse = [](std::string_view extensions, std::uint8_t first) {
    return parse_whole_packet(
        packet_of(
            {.is_v4 = false, .payload = 100, .extensions = extensions, .first_extension = first}),
        EtherType::kIpv6);
  };
  const auto options = parse("06 00 01 04 00000000", 60);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->transport_at, 48U);
  EXPECT_EQ(options->protocol, kProtocolTcp);
  EXPECT_FALSE(parse("06 00 0001 00000001", 44)) << "the first fragment";
  EXPECT_FALSE(parse("06 02 04 01 00000000 fd030000000000000000000000000001", 43)) << "routed";
  EXPECT_FALSE(parse("06 ff 01 04 00000000", 60)) << "longer than the packet";
}

TEST(WholePacket, GetsAHeaderThatFits) {
  auto four = packet_of({.identification = 0xffff, .payload = 100});
  four.resize(90);
  fit_ip_header(four, 2);
  const auto ip = parse_ip(four);  // checks the checksum of the header, too
  ASSERT_TRUE(ip);
  EXPECT_EQ(ip->payload_size, 70);
  EXPECT_EQ(ip->identification, 1);
  auto six = packet_of({.is_v4 = false, .payload = 100});
  six.resize(90);
  fit_ip_header(six, 2);
  EXPECT_EQ(parse_ip(six)->payload_size, 50);
}

}  // namespace
}  // namespace satrelay::wire::whole_packet_test
