// A stream takes as many bytes as it promises to. Bytes that have arrived hold no memory.
#include "pep/stp/streams/send_half.h"

#include <gtest/gtest.h>

#include <vector>

#include "pep/base/random.h"

namespace satrelay::stp::send_half_test {
namespace {

constexpr std::size_t kBlock = 4096;

TEST(SendHalfTest, AnEmptyStreamThatGoesOnInMidBlockPromisesOnlyTheRestOfTheBlock) {
  std::vector<std::byte> memory(kBlock);
  Arena arena(memory, kBlock);
  SendHalf half(arena);
  const std::vector<std::byte> bytes(kBlock);
  ASSERT_EQ(half.write(ConstBytes(bytes).first(100), 1 << 20, 0), 100U);
  std::vector<std::byte> out(100);
  half.take(0, out);
  half.on_acknowledged(0, 100, false);
  ASSERT_EQ(half.stored(), 0U);
  EXPECT_EQ(half.room(1 << 20, 0), kBlock - 100);
  EXPECT_EQ(half.write(bytes, 1 << 20, 0), kBlock - 100);
}

// In any state of the stream, and however little the arena has left.
TEST(SendHalfTest, RoomIsWhatAWriteTakes) {
  Random random(7);
  const std::vector<std::byte> bytes(64 * kBlock);
  std::vector<std::byte> out(64 * kBlock);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::byte> memory(16 * kBlock);
    Arena arena(memory, kBlock);
    SendHalf half(arena);
    std::uint64_t acknowledged = 0;
    for (int step = 0; step < 12; ++step) {
      const std::uint64_t promised = random.below(4 * kBlock);
      const std::uint64_t limit = random.below(20 * kBlock);
      const std::uint64_t room = half.room(limit, promised);
      // In one write or in two. The first may be as small as a header.
      const std::size_t first = static_cast<std::size_t>(
          random.chance(0.5) ? std::min<std::uint64_t>(room, 4) : random.below(room + 1));
      ASSERT_EQ(half.write(ConstBytes(bytes).first(first), limit, promised), first);
      const std::uint64_t rest = half.room(limit, promised);
      ASSERT_GE(rest, room - first);
      ASSERT_EQ(half.write(bytes, limit, promised), rest);
      if (half.unsent() > 0) half.take(half.sent(), MutableBytes(out).first(half.unsent()));
      const std::uint64_t arrived = random.chance(0.3)
                                        ? half.sent() - acknowledged
                                        : random.below(half.sent() - acknowledged + 1);
      half.on_acknowledged(acknowledged, arrived, false);
      acknowledged += arrived;
    }
  }
}

// A peer may report a packet only when another stream has the slot of the stream that sent it.
TEST(SendHalfTest, WhatItHasNotSentIsNotSettled) {
  std::vector<std::byte> memory(16 * kBlock);
  Arena arena(memory, kBlock);
  SendHalf half(arena);
  half.on_acknowledged(0, 1'400, false);
  half.on_acknowledged(3 * kBlock, 1'400, false);
  half.on_acknowledged(~std::uint64_t{0} - 100, 1'400, false);
  half.on_lost(0, 1'400, false, 1);
  half.on_acknowledged(0, 0, true);
  EXPECT_FALSE(half.has_lost());
  EXPECT_FALSE(half.done());
  const std::vector<std::byte> bytes(2 * kBlock);
  ASSERT_EQ(half.write(bytes, 1 << 20, 0), bytes.size());
  std::vector<std::byte> out(kBlock);
  half.take(0, out);
  half.on_acknowledged(100, kBlock, false);
  half.on_lost(kBlock, 1, false, 1);
  half.on_lost(0, kBlock, true, 1);
  EXPECT_EQ(half.unacknowledged(), bytes.size());
  EXPECT_FALSE(half.has_lost());
  half.finish();
  half.on_acknowledged(0, kBlock, true);  // the FIN is at another offset
  EXPECT_EQ(half.unacknowledged(), bytes.size());
  EXPECT_FALSE(half.take(kBlock, MutableBytes(out).first(kBlock - 1)));
  EXPECT_TRUE(half.take(2 * kBlock - 1, MutableBytes(out).first(1)));
  half.on_acknowledged(0, 2 * kBlock, true);
  EXPECT_TRUE(half.done());
}

TEST(SendHalfTest, WhatArrivedMeanwhileIsNotLost) {
  std::vector<std::byte> memory(1 << 20);
  Arena arena(memory, 4096);
  SendHalf half(arena);
  std::vector<std::byte> bytes(3'000);
  ASSERT_EQ(half.write(bytes, 10'000, 0), bytes.size());
  half.take(0, bytes);
  half.on_acknowledged(1'000, 1'000, false);
  half.on_lost(500, 2'000, false, 3);
  EXPECT_EQ(half.first_lost().range, (Range{500, 1'000}));
  // Bytes that are sent again, or of which a copy arrives, leave the set that held them.
  half.take(500, std::span(bytes).first(500));
  EXPECT_EQ(half.first_lost().range, (Range{2'000, 2'500}));
  half.on_lost(2'000, 500, false, 1);
  half.on_acknowledged(2'000, 500, false);
  EXPECT_FALSE(half.has_lost());
}

TEST(SendHalfTest, WhatArrivedHoldsNoMemory) {
  constexpr std::size_t kSmallBlock = 64;
  constexpr std::size_t kPacket = 50;
  constexpr std::uint64_t kBytes = 40 * kPacket;
  std::vector<std::byte> memory(kBytes + kSmallBlock);
  Arena arena(memory, kSmallBlock);
  SendHalf send(arena);
  std::vector<std::byte> bytes(kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 % 251);
  ASSERT_EQ(send.write(bytes, kBytes, 0), kBytes);
  std::vector<std::byte> out(kPacket);
  for (std::uint64_t at = 0; at < kBytes; at += kPacket) send.take(at, out);

  // Every tenth packet is lost. The others are acknowledged in a mixed order.
  const auto is_lost = [](std::uint64_t packet) { return packet % 10 == 3; };
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::uint64_t packet = i * 23 % 40;
    if (!is_lost(packet)) send.on_acknowledged(packet * kPacket, kPacket, false);
  }
  send.on_acknowledged(kBytes, 0, true);  // a FIN without bytes
  EXPECT_EQ(send.stored(), kBytes - 3 * kPacket);
  EXPECT_LE(arena.used_blocks(), 4 * 2U);  // a packet lies in two blocks at most
  EXPECT_FALSE(send.wants_copy(3 * kPacket, 2 * kPacket));
  EXPECT_TRUE(send.wants_copy(3 * kPacket, kPacket));
  send.on_lost(0, kBytes, false, 1);
  for (std::uint64_t packet = 3; packet < 40; packet += 10) {
    const Range range = send.first_lost().range;
    EXPECT_EQ(range, (Range{packet * kPacket, (packet + 1) * kPacket}));
    send.take(range.begin, out);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), bytes.begin() + range.begin));
  }
  for (std::uint64_t packet = 3; packet < 40; packet += 10) {
    send.on_acknowledged(packet * kPacket, kPacket, false);
  }
  EXPECT_EQ(send.stored(), 0U);
  EXPECT_EQ(arena.used_blocks(), 0U);
}

// A gateway that sends a byte which lies nowhere would stop.
TEST(SendHalfTest, AnImageThatContradictsItselfIsRefused) {
  std::vector<std::byte> memory(16 * kBlock);
  Arena arena(memory, kBlock);
  SendHalf half(arena);
  const std::vector<std::byte> bytes(5 * kBlock);
  ASSERT_EQ(half.write(bytes, 1 << 20, 0), bytes.size());
  std::vector<std::byte> out(4 * kBlock);
  half.take(0, out);
  half.on_acknowledged(0, 100, false);
  half.on_acknowledged(1'000, 2 * kBlock, false);
  half.on_lost(100, 500, false, 1);
  half.on_lost(3 * kBlock, 50, false, 2);
  ASSERT_TRUE(half.is_consistent());
  ASSERT_EQ(half.blocks_held(), 4U) << "one was forgotten";
  std::vector<std::byte> octets, given_up;
  Image::writer(octets, {})(half);
  int refused = 0;
  for (std::size_t at = 0; at < octets.size(); ++at) {
    for (const unsigned with : {0x01U, 0x10U, 0x80U}) {
      std::vector<std::byte> changed = octets;
      changed[at] ^= static_cast<std::byte>(with);
      SendHalf other(arena);
      Image image = Image::reader(changed, {});
      image(other);
      ASSERT_TRUE(image.failed() || other.is_consistent()) << at;
      refused += image.failed() ? 1 : 0;
      Image::writer(given_up, {})(other);  // its blocks are the image's again
    }
  }
  EXPECT_GT(refused, 100);
  SendHalf other(arena);
  Image image = Image::reader(octets, {});
  image(other);
  EXPECT_TRUE(image.complete());
  EXPECT_EQ(other.blocks_held(), 4U);
}

}  // namespace
}  // namespace satrelay::stp::send_half_test
