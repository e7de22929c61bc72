// The header of a packet, and its checksum.
#include "pep/stp/wire/packet.h"

#include <gtest/gtest.h>

#include <array>

namespace satrelay::stp::packet_test {
namespace {

TEST(PacketTest, HeaderRoundTripsAndTakesEightBytes) {
  std::array<std::byte, 13> packet{};
  const PacketHeader header{kVersion, PacketType::kFrames, true, true, 3, 0xbeef, 0x12345678};
  write_header(header, packet.data());
  EXPECT_EQ(parse_header(packet), header);
  EXPECT_EQ(packet[0], std::byte{0x16});
  EXPECT_EQ(packet[4], std::byte{0x12});
}

TEST(PacketTest, RefusesShortPacketsAndReservedBits) {
  std::array<std::byte, 13> packet{};
  write_header({}, packet.data());
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_FALSE(parse_header(ConstBytes(packet).first(size)));
  }
  packet[0] |= std::byte{0x01};
  EXPECT_FALSE(parse_header(packet));
  packet[0] = std::byte{0x1a};  // a HELLO is never protected
  EXPECT_FALSE(parse_header(packet));
  packet[0] = std::byte{0x21};  // version 2, in which the meaning of these bits is unknown
  EXPECT_TRUE(parse_header(packet));
}

TEST(PacketTest, SealFailsOnAnyFlippedBitAndInAnyOtherSession) {
  std::array<std::byte, 40> packet{};
  write_header({}, packet.data());
  const SessionSeal seal(1000, 2000);
  seal.close(packet);
  EXPECT_TRUE(seal.verify(packet));
  for (std::size_t bit = 0; bit < packet.size() * 8; ++bit) {
    auto damaged = packet;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_FALSE(seal.verify(damaged)) << bit;
  }
  EXPECT_FALSE(SessionSeal(1000, 2001).verify(packet));
  EXPECT_FALSE(SessionSeal(2000, 1000).verify(packet));
  EXPECT_FALSE(SessionSeal().verify(packet));
}

}  // namespace
}  // namespace satrelay::stp::packet_test
