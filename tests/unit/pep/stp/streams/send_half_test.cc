// What a stream promises to take it takes.
#include "pep/stp/streams/send_half.h"

#include <gtest/gtest.h>

#include <vector>

#include "pep/base/random.h"

namespace satrelay::stp {
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

// However the stream stands and whatever the arena has left.
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
      // In one write, and in two, of which the first is as small as a header.
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

}  // namespace
}  // namespace satrelay::stp
