// What is lost again and again: counted, first in line, and sent in copies that keep apart.
#include <gtest/gtest.h>

#include <vector>

#include "pep/stp/packets/sent_ledger.h"
#include "pep/stp/streams/copy_queue.h"
#include "pep/stp/streams/lost_ranges.h"
#include "pep/stp/streams/send_half.h"

namespace satrelay::stp {
namespace {

TEST(LostRangesTest, WhatWasLostMostOftenComesFirst) {
  LostRanges lost;
  lost.insert(100, 200, 1);
  lost.insert(300, 400, 3);
  lost.insert(200, 300, 2);
  EXPECT_EQ(lost.first().range, (Range{300, 400}));
  EXPECT_EQ(lost.first().losses, 3U);
  lost.erase(250, 400);
  EXPECT_EQ(lost.first().range, (Range{200, 250}));
  EXPECT_EQ(lost.first().losses, 2U);
  lost.erase(0, 250);
  EXPECT_TRUE(lost.empty());
}

TEST(SentItemTest, KindLossesAndGenerationShareAField) {
  const SentItem item =
      SentItem::make(ItemKind::kConfirm, 5, 0xffff, 1'000, 65'535, SentItem::kMaxLosses - 1);
  EXPECT_EQ(item.losses(), SentItem::kMaxLosses - 1);
  EXPECT_EQ(item.kind(), ItemKind::kConfirm);
  EXPECT_EQ(item.generation(), SentItem::kGenerationMask);
  EXPECT_EQ(item.length, 65'535U);
  static_assert(LostRanges::kMaxLosses <= SentItem::kMaxLosses);
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
  // Sent again, or arrived as its own copy: out of whatever set it stood in.
  half.take(500, std::span(bytes).first(500));
  EXPECT_EQ(half.first_lost().range, (Range{2'000, 2'500}));
  half.on_lost(2'000, 500, false, 1);
  half.on_acknowledged(2'000, 500, false);
  EXPECT_FALSE(half.has_lost());
}

TEST(SendHalfTest, WhatArrivedHoldsNoMemory) {
  constexpr std::size_t kBlock = 64;
  constexpr std::size_t kPacket = 50;
  constexpr std::uint64_t kBytes = 40 * kPacket;
  std::vector<std::byte> memory(kBytes + kBlock);
  Arena arena(memory, kBlock);
  SendHalf send(arena);
  std::vector<std::byte> bytes(kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 % 251);
  ASSERT_EQ(send.write(bytes, kBytes, 0), kBytes);
  std::vector<std::byte> out(kPacket);
  for (std::uint64_t at = 0; at < kBytes; at += kPacket) send.take(at, out);

  // Every tenth packet is lost; the others are told in an order of their own.
  const auto is_lost = [](std::uint64_t packet) { return packet % 10 == 3; };
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::uint64_t packet = i * 23 % 40;
    if (!is_lost(packet)) send.on_acknowledged(packet * kPacket, kPacket, false);
  }
  send.on_acknowledged(kBytes, 0, true);  // a FIN by itself
  EXPECT_EQ(send.stored(), kBytes - 3 * kPacket);
  EXPECT_LE(arena.used_blocks(), 4 * 2U);  // a packet touches two blocks at most
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

TEST(CopyQueueTest, CopiesGrowWithTheLosses) {
  EXPECT_EQ(CopyQueue::copies(2), 0U);
  EXPECT_EQ(CopyQueue::copies(3), 1U);
  EXPECT_EQ(CopyQueue::copies(LostRanges::kMaxLosses), 3U);
}

TEST(CopyQueueTest, IsAQueueWithALimit) {
  CopyQueue queue;
  for (std::uint64_t i = 0; i < CopyQueue::kRoom + 10; ++i) {
    queue.push({.offset = i, .due = Instant()});
  }
  for (std::uint64_t i = 0; i < CopyQueue::kRoom; ++i) {
    EXPECT_EQ(queue.front().offset, i);
    queue.pop();
  }
  EXPECT_TRUE(queue.empty());
  queue.push({.offset = 7, .due = Instant()});
  EXPECT_EQ(queue.front().offset, 7U);
}

}  // namespace
}  // namespace satrelay::stp
