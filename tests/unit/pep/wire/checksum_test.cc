#include "pep/wire/checksum.h"

#include <gtest/gtest.h>

#include <vector>

#include "pep/base/random.h"
#include "pep/wire/ip.h"
#include "tests/unit/pep/wire/octets.h"

namespace satrelay::wire::checksum_test {
namespace {

// RFC 1071 section 1, word by word.
std::uint16_t naive_sum(ConstBytes bytes, std::uint32_t sum) {
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const std::uint32_t low = i + 1 < bytes.size() ? load_u8(&bytes[i + 1]) : 0U;
    sum += std::uint32_t{load_u8(&bytes[i])} * 256 + low;
    sum = (sum & 0xffffU) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(sum);
}

TEST(Checksum, KnownVectors) {
  // The example of RFC 1071 section 3.
  EXPECT_EQ(checksum_sum(octets("0001 f203 f4f5 f6f7")), 0xddf2);
  EXPECT_EQ(checksum_sum({}), 0);
  EXPECT_EQ(checksum_sum(octets("ff")), 0xff00);
  EXPECT_EQ(checksum_sum({}, 0x1234), 0x1234);
  EXPECT_EQ(add_checksums(0xffff, 0x0001), 0x0001);
  EXPECT_EQ(add_checksums(0x8000, 0x8001), 0x0002);
  EXPECT_EQ(add_checksums(0xffff, 0xffff), 0xffff);
}

TEST(Checksum, AgreesWithTheNaiveSumAtEverySizeAndAlignment) {
  Random random(1);
  std::vector<std::byte> bytes(1700);
  for (auto& b : bytes) b = random.chance(0.3) ? std::byte{0xff} : std::byte(random.next() & 0xff);
  for (std::size_t size = 0; size < 1600; ++size) {
    const std::size_t from = random.below(64);
    const auto initial = static_cast<std::uint16_t>(random.next());
    const ConstBytes piece = ConstBytes(bytes).subspan(from, size);
    ASSERT_EQ(checksum_sum(piece, initial), naive_sum(piece, initial)) << size << " at " << from;
  }
  std::vector<std::byte> ones(9000, std::byte{0xff});
  EXPECT_EQ(checksum_sum(ones), 0xffff);
}

TEST(Checksum, PiecesCombine) {
  Random random(2);
  std::vector<std::byte> bytes(1000);
  for (auto& b : bytes) b = std::byte(random.next() & 0xff);
  const ConstBytes all(bytes);
  for (std::size_t cut = 0; cut < 1000; cut += 2) {
    const std::uint16_t front = checksum_sum(all.first(cut));
    EXPECT_EQ(add_checksums(front, checksum_sum(all.subspan(cut))), checksum_sum(all));
    EXPECT_EQ(checksum_sum(all.subspan(cut), front), checksum_sum(all));
  }
}

TEST(Checksum, PseudoHeaders) {
  // Calculated by hand: c000 + 0201 + c633 + 6402 + 0006 + 0014 = 1ec50, folded ec51.
  EXPECT_EQ(
      pseudo_header_sum(*IpAddress::parse("192.0.2.1"), *IpAddress::parse("198.51.100.2"), 6, 20),
      0xec51);
  // 2001 + 0db8 + 0001 + 2001 + 0db8 + 0002 + 0001 (length 65536+4, high word) + 0004 + 003a
  EXPECT_EQ(pseudo_header_sum(*IpAddress::parse("2001:db8::1"), *IpAddress::parse("2001:db8::2"),
                              58, 65540),
            0x2001 + 0x0db8 + 1 + 0x2001 + 0x0db8 + 2 + 1 + 4 + 0x3a);
}

TEST(Checksum, TransportChecksums) {
  const IpAddress source = *IpAddress::parse("192.0.2.1");
  const IpAddress destination = *IpAddress::parse("198.51.100.2");
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> segment(20 + random.below(200));
    for (auto& b : segment) b = std::byte(random.next() & 0xff);
    const std::uint8_t protocol = random.chance(0.5) ? kProtocolTcp : kProtocolUdp;
    const std::size_t field = protocol == kProtocolTcp ? 16 : 6;
    const auto length = static_cast<std::uint32_t>(segment.size());
    store_u16(&segment[field], 0);
    const std::uint16_t sum = transport_checksum(source, destination, protocol, segment);
    store_u16(&segment[field], sum);
    ASSERT_TRUE(transport_checksum_ok(source, destination, protocol, segment));
    // A flipped bit is found, wherever it is.
    const std::size_t bit = random.below(segment.size() * 8);
    segment[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(transport_checksum_ok(source, destination, protocol, segment));
    segment[bit / 8] ^= std::byte{1} << (bit % 8);

    store_u16(&segment[field], pseudo_header_sum(source, destination, protocol, length));
    ASSERT_TRUE(transport_checksum_unfinished(source, destination, protocol, segment));
    store_u16(&segment[field], static_cast<std::uint16_t>(
                                   pseudo_header_sum(source, destination, protocol, length) ^ 1));
    ASSERT_FALSE(transport_checksum_unfinished(source, destination, protocol, segment));
  }
}

TEST(Checksum, UnfinishedNeedsAField) {
  const IpAddress a = *IpAddress::parse("192.0.2.1");
  std::vector<std::byte> segment(17);
  EXPECT_FALSE(transport_checksum_unfinished(a, a, kProtocolTcp, segment));  // field cut in half
  EXPECT_FALSE(transport_checksum_unfinished(a, a, 50, segment));
  EXPECT_FALSE(transport_checksum_unfinished(a, a, kProtocolUdp, {}));
}

}  // namespace
}  // namespace satrelay::wire::checksum_test
