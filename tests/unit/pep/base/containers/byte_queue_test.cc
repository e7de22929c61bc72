#include "pep/base/containers/byte_queue.h"

#include <gtest/gtest.h>

#include <deque>

#include "pep/base/random.h"

namespace satrelay::byte_queue_test {
namespace {

std::vector<std::byte> random_bytes(Random& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (auto& b : bytes) b = static_cast<std::byte>(random.next());
  return bytes;
}

TEST(ByteQueue, KeepsAPrefixWhenTheArenaIsExhausted) {
  std::vector<std::byte> memory(4 * 64);
  Arena arena(memory, 64);
  ByteQueue queue(arena);
  Random random(1);
  const auto bytes = random_bytes(random, 300);
  EXPECT_EQ(queue.append(bytes), 256U);
  EXPECT_EQ(queue.append(bytes), 0U);
  EXPECT_EQ(queue.size(), 256U);
  std::vector<std::byte> out(256);
  queue.copy_out(0, out);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), bytes.begin()));
  queue.release_below(64);
  EXPECT_EQ(queue.append(ConstBytes(bytes).subspan(256)), 44U);
  queue.copy_out(100, std::span(out).first(200));
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + 200, bytes.begin() + 100));
}

TEST(ByteQueue, HoldsNoMemoryWhileEmpty) {
  std::vector<std::byte> memory(4 * 64);
  Arena arena(memory, 64);
  ByteQueue queue(arena);
  const std::byte one[10] = {};
  ASSERT_EQ(queue.append(one), sizeof one);
  queue.release_below(5);
  EXPECT_EQ(arena.used_blocks(), 1U);
  queue.release_below(10);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(arena.used_blocks(), 0U);
  EXPECT_TRUE(queue.contiguous(10).empty());
  ASSERT_EQ(queue.append(one), sizeof one);
  EXPECT_EQ(queue.begin(), 10U);
  EXPECT_EQ(queue.end(), 20U);
  queue.release_below(3);  // below begin: no effect
  EXPECT_EQ(queue.size(), 10U);
  queue.reset();
  EXPECT_EQ(queue.end(), 0U);
  EXPECT_EQ(arena.used_blocks(), 0U);
}

TEST(ByteQueue, ForgetsBlocksInTheMiddle) {
  std::vector<std::byte> memory(8 * 64);
  Arena arena(memory, 64);
  ByteQueue queue(arena);
  Random random(2);
  const auto bytes = random_bytes(random, 400);
  ASSERT_EQ(queue.append(bytes), bytes.size());
  EXPECT_EQ(arena.used_blocks(), 7U);
  queue.forget({70, 300});  // whole blocks: 2 and 3
  EXPECT_EQ(arena.used_blocks(), 5U);
  queue.forget({128, 256});
  EXPECT_EQ(arena.used_blocks(), 5U);
  EXPECT_EQ(queue.size(), 400U);
  std::vector<std::byte> out(128);
  queue.copy_out(0, out);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), bytes.begin()));
  queue.copy_out(256, out);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), bytes.begin() + 256));
  EXPECT_DEATH(queue.copy_out(200, std::span(out).first(100)), "");
  ASSERT_EQ(queue.append(std::span(out).first(100)), 100U);
  queue.release_below(450);
  EXPECT_EQ(arena.used_blocks(), 1U);
  queue.release_below(500);
  EXPECT_EQ(arena.used_blocks(), 0U);
}

TEST(ByteQueueDeathTest, RefusesToReadWhatItDoesNotHold) {
  std::vector<std::byte> memory(4 * 64);
  Arena arena(memory, 64);
  ByteQueue queue(arena);
  std::byte bytes[100] = {};
  ASSERT_EQ(queue.append(bytes), sizeof bytes);
  queue.release_below(50);
  EXPECT_DEATH(queue.copy_out(49, std::span(bytes).first(1)), "");
  EXPECT_DEATH(queue.copy_out(60, std::span(bytes).first(41)), "");
  EXPECT_DEATH(queue.release_below(101), "");
}

TEST(ByteQueue, AgreesWithADeque) {
  std::vector<std::byte> memory(64 * 64);
  Arena arena(memory, 64);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ByteQueue queue(arena);
    std::deque<std::byte> model;
    std::uint64_t begin = 0;
    for (int step = 0; step < 1000; ++step) {
      const std::uint64_t dice = random.below(10);
      if (dice < 4) {
        const auto bytes = random_bytes(random, random.below(400));
        const std::size_t stored = queue.append(bytes);
        model.insert(model.end(), bytes.begin(),
                     bytes.begin() + static_cast<std::ptrdiff_t>(stored));
        if (stored < bytes.size()) {
          ASSERT_EQ(arena.free_blocks(), 0U);
        }
      } else if (dice < 6) {
        const std::uint64_t n = random.below(model.size() + 1);
        begin += n;
        queue.release_below(begin);
        model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(n));
      } else {
        const std::uint64_t from = random.below(model.size() + 1);
        std::vector<std::byte> out(random.below(model.size() - from + 1));
        queue.copy_out(begin + from, out);
        ASSERT_TRUE(
            std::equal(out.begin(), out.end(), model.begin() + static_cast<std::ptrdiff_t>(from)));
        const ConstBytes run = queue.contiguous(begin + from);
        ASSERT_EQ(run.empty(), from == model.size());
        ASSERT_TRUE(
            std::equal(run.begin(), run.end(), model.begin() + static_cast<std::ptrdiff_t>(from)));
      }
      ASSERT_EQ(queue.begin(), begin);
      ASSERT_EQ(queue.size(), model.size());
      // The queue never holds more blocks than its bytes span.
      ASSERT_LE(arena.used_blocks(), model.size() / 64 + 2);
    }
  }
  EXPECT_EQ(arena.used_blocks(), 0U);
}

TEST(ByteQueue, ItsRoomCountsWhatIsItsOwn) {
  std::vector<std::byte> memory(4 * 64);
  Arena arena(memory, 64, 64);
  ByteQueue queue(arena);
  ASSERT_TRUE(queue.own());
  const std::vector<std::byte> bytes(1'000);
  EXPECT_EQ(queue.room(0), 64U);
  EXPECT_EQ(queue.room(1), 128U);
  ASSERT_EQ(queue.append(ConstBytes(bytes).first(100)), 100U);
  EXPECT_EQ(queue.room(0), 28U);
  queue.release_below(100);  // empty, in the middle of a block
  EXPECT_EQ(queue.room(0), 64U);
  while (arena.allocate() != kNoBlock) {
  }
  EXPECT_EQ(queue.append(bytes), 64U);
  EXPECT_EQ(queue.room(0), 0U);
  queue.release_below(130);
  EXPECT_EQ(queue.room(0), 30U);
}

}  // namespace
}  // namespace satrelay::byte_queue_test
