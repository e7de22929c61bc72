#include "pep/base/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "pep/base/random.h"

namespace satrelay::arena_test {
namespace {

TEST(Arena, HandsOutEachBlockOnceUntilExhausted) {
  std::vector<std::byte> memory(10 * 64 + 63);  // the rest is no block
  Arena arena(memory, 64);
  EXPECT_EQ(arena.total_blocks(), 10U);
  EXPECT_EQ(arena.block_size(), 64U);
  std::set<BlockIndex> seen;
  for (int i = 0; i < 10; ++i) {
    const BlockIndex block = arena.allocate();
    ASSERT_NE(block, kNoBlock);
    EXPECT_TRUE(seen.insert(block).second);
    EXPECT_GE(arena.data(block), memory.data());
    EXPECT_LE(arena.data(block) + 64, memory.data() + memory.size());
  }
  EXPECT_EQ(arena.data(1) - arena.data(0), 64);
  EXPECT_EQ(arena.allocate(), kNoBlock);
  EXPECT_EQ(arena.used_blocks(), 10U);
  arena.release(7);
  EXPECT_EQ(arena.free_blocks(), 1U);
  EXPECT_EQ(arena.allocate(), 7U);
  EXPECT_EQ(arena.allocate(), kNoBlock);
}

TEST(Arena, MayBeEmpty) {
  Arena arena({}, 4096);
  EXPECT_EQ(arena.total_blocks(), 0U);
  EXPECT_EQ(arena.allocate(), kNoBlock);
}

TEST(Arena, SeveralReservesShareABlock) {
  std::vector<std::byte> memory(4 * 64);
  Arena arena(memory, 64, 16);
  EXPECT_EQ(arena.free_reserves(), 8U) << "half of the blocks are for them at most";
  std::set<const std::byte*> seen;
  std::vector<ReserveIndex> taken;
  for (int i = 0; i < 5; ++i) {
    taken.push_back(arena.take_reserve());
    ASSERT_NE(taken.back(), kNoReserve);
    EXPECT_TRUE(seen.insert(arena.data_of_reserve(taken.back())).second);
  }
  EXPECT_EQ(arena.used_blocks(), 2U);
  EXPECT_EQ(arena.blocks_of_reserves(), 2U);
  EXPECT_EQ(arena.free_reserves(), 3U);
  EXPECT_NE(arena.allocate(), kNoBlock);
  EXPECT_EQ(arena.free_reserves(), 3U);
  for (int i = 0; i < 3; ++i) taken.push_back(arena.take_reserve());
  EXPECT_EQ(arena.take_reserve(), kNoReserve);
  for (const ReserveIndex each : taken) arena.return_reserve(each);
  EXPECT_EQ(arena.used_blocks(), 1U);
  EXPECT_EQ(arena.reserves_taken(), 0U);
}

TEST(Arena, WithoutReservesHasNone) {
  std::vector<std::byte> memory(64);
  Arena arena(memory, 64);
  EXPECT_EQ(arena.free_reserves(), 0U);
  EXPECT_EQ(arena.take_reserve(), kNoReserve);
}

// No two holders share a byte, and whatever is given back can be taken again, as either.
TEST(Arena, AccountsForBlocksAndReserves) {
  for (const std::size_t reserve : {4U, 16U, 64U}) {
    Random random(reserve);
    std::vector<std::byte> memory(32 * 64);
    Arena arena(memory, 64, reserve);
    std::map<const std::byte*, std::size_t> held;  // sizes, by begin
    std::vector<BlockIndex> blocks;
    std::vector<ReserveIndex> reserves;
    for (int step = 0; step < 20'000; ++step) {
      const bool more = random.below(2'000) < 1'000 + (step / 1'000 % 2 == 0 ? 200U : 0U);
      if (random.below(4) == 0) {
        if (more) {
          const BlockIndex block = arena.allocate();
          if (block != kNoBlock) {
            blocks.push_back(block);
            ASSERT_TRUE(held.emplace(arena.data(block), 64).second);
          }
        } else if (!blocks.empty()) {
          std::swap(blocks[random.below(blocks.size())], blocks.back());
          held.erase(arena.data(blocks.back()));
          arena.release(blocks.back());
          blocks.pop_back();
        }
      } else if (more) {
        const ReserveIndex each = arena.take_reserve();
        if (each != kNoReserve) {
          reserves.push_back(each);
          ASSERT_TRUE(held.emplace(arena.data_of_reserve(each), reserve).second);
        }
      } else if (!reserves.empty()) {
        std::swap(reserves[random.below(reserves.size())], reserves.back());
        held.erase(arena.data_of_reserve(reserves.back()));
        arena.return_reserve(reserves.back());
        reserves.pop_back();
      }
      ASSERT_EQ(arena.reserves_taken(), reserves.size());
      ASSERT_EQ(arena.used_blocks(), blocks.size() + arena.blocks_of_reserves());
      ASSERT_LE(arena.blocks_of_reserves(), reserves.size());
      ASSERT_EQ(arena.free_reserves(),
                std::min<std::size_t>(32 - blocks.size(), 16) * (64 / reserve) - reserves.size());
      const std::byte* end = memory.data();
      if (step % 100 == 0) {
        for (const auto& [begin, size] : held) {
          ASSERT_GE(begin, end);
          end = begin + size;
        }
        ASSERT_LE(end, memory.data() + memory.size());
      }
    }
  }
}

}  // namespace
}  // namespace satrelay::arena_test
