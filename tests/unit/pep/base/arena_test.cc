#include "pep/base/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "pep/base/random.h"

namespace satrelay::arena_test {
namespace {

TEST(Arena, HandsOutEachBlockOnceUntilExhausted) {
  std::vector<std::byte> memory(10 * 64 + 63);  // the last 63 bytes make no block
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

// No two holders share a byte. Memory that is given back can be taken again, as a block or as a
// reserve.
TEST(Arena, AccountsForBlocksAndReserves) {
  for (const std::size_t reserve : {4U, 16U, 64U}) {
    Random random(reserve);
    std::vector<std::byte> memory(32 * 64);
    Arena arena(memory, 64, reserve);
    std::map<const std::byte*, std::size_t> held;  // sizes, by first byte
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

// --- parts ---------------------------------------------------------------------------------------

constexpr std::size_t kBlock = 64;

TEST(ArenaPart, AGreedyOneLeavesTheOthersWhatIsKeptForThem) {
  std::vector<std::byte> memory(100 * kBlock);
  Arena whole(memory, kBlock);
  Arena greedy(whole, {.beside = 20 * kBlock}), modest(whole, {.beside = 20 * kBlock});
  EXPECT_EQ(greedy.attainable_blocks(), 80U);
  std::size_t taken = 0;
  for (; greedy.allocate() != kNoBlock; ++taken) {
  }
  EXPECT_EQ(taken, 80U);
  EXPECT_EQ(modest.free_blocks(), 20U);
  EXPECT_EQ(modest.attainable_blocks(), 20U);
  EXPECT_EQ(modest.sure_blocks(), 20U);
  std::vector<BlockIndex> blocks;
  for (int i = 0; i < 20; ++i) blocks.push_back(modest.allocate());
  EXPECT_EQ(std::ranges::count(blocks, kNoBlock), 0);
  EXPECT_EQ(modest.allocate(), kNoBlock);
  modest.release(blocks.back());
  EXPECT_EQ(greedy.allocate(), kNoBlock) << "it is the other's";
  EXPECT_NE(modest.allocate(), kNoBlock);
}

TEST(ArenaPart, TheOnlyOneHasAll) {
  std::vector<std::byte> memory(10 * kBlock);
  Arena whole(memory, kBlock, kBlock / 4);
  Arena part(whole, {.promised = 2 * kBlock, .beside = 2 * kBlock, .reserves = 4});
  EXPECT_FALSE(part.is_shared());
  EXPECT_EQ(part.free_reserves(), 20U);
  for (int i = 0; i < 10; ++i) EXPECT_NE(part.allocate(), kNoBlock);
  EXPECT_EQ(part.attainable_blocks(), 10U);
}

// A peer may send the bytes that it was granted at any time, whatever else its part has taken.
TEST(ArenaPart, APromiseIsKeptUntilItIsUsed) {
  std::vector<std::byte> memory(100 * kBlock);
  Arena whole(memory, kBlock);
  Arena one(whole, {.promised = 30 * kBlock, .beside = 10 * kBlock});
  Arena other(whole, {.beside = 10 * kBlock});
  EXPECT_EQ(other.free_blocks(), 60U);
  for (int i = 0; i < 40; ++i) static_cast<void>(one.allocate());
  EXPECT_EQ(other.free_blocks(), 30U) << "of what is left, 30 are promised";
  one.use_promise(20 * kBlock);
  EXPECT_EQ(one.promise_left(), 10 * kBlock);
  EXPECT_EQ(other.free_blocks(), 50U);
  one.renew_promise(20 * kBlock);
  EXPECT_EQ(other.free_blocks(), 30U);
  EXPECT_EQ(other.beside_promises(), 70 * kBlock);
}

TEST(ArenaPart, ReservesAreKeptToo) {
  std::vector<std::byte> memory(32 * kBlock);
  Arena whole(memory, kBlock, kBlock / 4);  // 64 reserves in 16 blocks
  const Arena::Kept kept{.beside = 8 * kBlock, .reserves = 16};
  Arena greedy(whole, kept), modest(whole, kept);
  std::vector<ReserveIndex> taken;
  while (greedy.free_reserves() > 0) taken.push_back(greedy.take_reserve());
  EXPECT_EQ(taken.size(), 48U);
  EXPECT_EQ(greedy.take_reserve(), kNoReserve);
  // The greedy part cannot take the blocks that hold the other part's reserves either.
  while (greedy.allocate() != kNoBlock) {
  }
  EXPECT_EQ(modest.free_reserves(), 16U);
  for (int i = 0; i < 16; ++i) EXPECT_NE(modest.take_reserve(), kNoReserve);
  EXPECT_EQ(modest.take_reserve(), kNoReserve);
}

// A part that gives back all it has taken finds as many blocks as before.
TEST(ArenaPart, AReserveThatComesBackLeavesWhatIsKept) {
  std::vector<std::byte> memory(32 * kBlock);
  Arena whole(memory, kBlock, kBlock / 4);
  const Arena::Kept kept{.beside = 8 * kBlock, .reserves = 16};
  Arena greedy(whole, kept), modest(whole, kept);
  while (greedy.allocate() != kNoBlock) {
  }
  const std::size_t before = modest.free_blocks();
  for (int i = 0; i < 8; ++i) {
    modest.return_reserve(modest.take_reserve());
    EXPECT_EQ(greedy.allocate(), kNoBlock);
  }
  EXPECT_EQ(modest.free_blocks(), before);
}

// A part that keeps one reserve in each of many blocks is charged for all these blocks. So the
// other parts still get the blocks and reserves that are kept for them.
TEST(ArenaPart, ScatteredReservesTakeNothingOfOthers) {
  std::vector<std::byte> memory(64 * kBlock);
  Arena whole(memory, kBlock, kBlock / 16);
  const Arena::Kept kept{.beside = 16 * kBlock, .reserves = 128};
  Arena greedy(whole, kept), modest(whole, kept);
  EXPECT_EQ(modest.sure_reserves(), 128U);
  // Both parts take reserves by turns, so that the reserves would share blocks.
  std::vector<ReserveIndex> taken, of_modest;
  for (int i = 0; i < 128; ++i) {
    taken.push_back(greedy.take_reserve());
    of_modest.push_back(modest.take_reserve());
  }
  while (greedy.free_reserves() > 0) taken.push_back(greedy.take_reserve());
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (i % 16 != 0) greedy.return_reserve(taken[i]);
  }
  while (greedy.allocate() != kNoBlock) {
  }
  EXPECT_EQ(greedy.held(), 48 * kBlock) << "what is kept for it, and the rest";
  // No block that the other part gives back is pinned by a reserve of the greedy part.
  for (const ReserveIndex each : of_modest) modest.return_reserve(each);
  EXPECT_EQ(modest.held(), 0U);
  EXPECT_EQ(modest.free_blocks(), 16U);
  EXPECT_EQ(modest.sure_reserves(), 128U);
  for (int i = 0; i < 128; ++i) EXPECT_NE(modest.take_reserve(), kNoReserve);
  for (int i = 0; i < 8; ++i) EXPECT_NE(modest.allocate(), kNoBlock);
  EXPECT_EQ(greedy.allocate(), kNoBlock);
}

// Each part is charged for the blocks that it pins, in every sequence of operations. A part that
// has less than is kept for it finds the rest.
TEST(ArenaPart, ReservesAreChargedByTheBlock) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    std::vector<std::byte> memory(96 * kBlock);
    Arena whole(memory, kBlock, kBlock / 8);
    const Arena::Kept kept{.beside = 16 * kBlock, .reserves = 64};
    Arena first(whole, kept), second(whole, kept), modest(whole, kept);
    const std::vector<Arena*> parts{&first, &second, &modest};
    std::vector<std::vector<ReserveIndex>> reserves(3);
    std::vector<std::vector<BlockIndex>> blocks(3);
    for (int step = 0; step < 5'000; ++step) {
      const std::size_t i = random.below(3);
      Arena& part = *parts[i];
      const bool is_modest = i == 2;
      if (is_modest && reserves[i].size() < 64 && blocks[i].size() <= 8) {
        ASSERT_GT(part.sure_reserves(), 0U) << seed;
      }
      if (random.chance(0.7)) {
        if (random.chance(0.8)) {
          if (is_modest && reserves[i].size() == 64) continue;
          const ReserveIndex each = part.take_reserve();
          ASSERT_TRUE(!is_modest || each != kNoReserve) << seed;
          if (each != kNoReserve) reserves[i].push_back(each);
        } else {
          if (is_modest && blocks[i].size() == 8) continue;
          const BlockIndex block = part.allocate();
          if (block != kNoBlock) blocks[i].push_back(block);
        }
      } else if (!reserves[i].empty()) {
        std::swap(reserves[i][random.below(reserves[i].size())], reserves[i].back());
        part.return_reserve(reserves[i].back());
        reserves[i].pop_back();
      } else if (!blocks[i].empty()) {
        part.release(blocks[i].back());
        blocks[i].pop_back();
      }
      std::set<std::size_t> divided;
      std::uint64_t held = 0;
      for (std::size_t each = 0; each < 3; ++each) {
        std::set<std::size_t> own;
        for (const ReserveIndex reserve : reserves[each]) own.insert(reserve / 8);
        for (const std::size_t block : own) ASSERT_TRUE(divided.insert(block).second) << "shared";
        ASSERT_EQ(parts[each]->held(), (own.size() + blocks[each].size()) * kBlock);
        held += parts[each]->held();
      }
      ASSERT_EQ(held, whole.used_blocks() * kBlock);
      ASSERT_EQ(divided.size(), whole.blocks_of_reserves());
    }
  }
}

// In every sequence of operations, a part that has less than is kept for it finds a block, and the
// sums agree.
TEST(ArenaPart, WhatIsKeptIsThere) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    std::vector<std::byte> memory(128 * kBlock);
    Arena whole(memory, kBlock);
    const std::size_t owners = 2 + random.below(4);
    std::vector<std::unique_ptr<Arena>> parts;
    for (std::size_t i = 0; i < owners; ++i) {
      const std::uint64_t promised = random.below(10) * kBlock;
      parts.push_back(std::make_unique<Arena>(
          whole, Arena::Kept{.promised = promised, .beside = random.below(15) * kBlock}));
    }
    std::vector<std::vector<BlockIndex>> blocks(owners);
    std::vector<std::uint64_t> stored(owners);
    for (int step = 0; step < 3'000; ++step) {
      const std::size_t i = random.below(owners);
      Arena& part = *parts[i];
      if (blocks[i].size() < part.sure_blocks()) {
        ASSERT_GT(part.free_blocks(), 0U) << "seed " << seed << ", owner " << i;
      }
      // The first part takes all that it can get. The others leave free what their own peers were
      // promised. These peers use the promise by bytes, which lie in blocks.
      const bool is_promise = stored[i] + kBlock <= part.promised() && random.chance(0.5);
      const std::uint64_t free = part.free_blocks() * kBlock;
      if (i > 0 && is_promise) {
        ASSERT_GT(free, 0U) << seed;
      }
      if (i > 0 && !is_promise && free <= part.promise_left()) continue;
      if (random.chance(0.6)) {
        const BlockIndex block = part.allocate();
        if (block == kNoBlock) continue;
        blocks[i].push_back(block);
        if (!is_promise) continue;
        part.use_promise(kBlock);
        stored[i] += kBlock;
      } else if (!blocks[i].empty()) {
        if (stored[i] > 0) {
          part.renew_promise(kBlock);
          stored[i] -= kBlock;
        }
        part.release(blocks[i].back());
        blocks[i].pop_back();
      }
      std::uint64_t kept = 0;
      for (const auto& each : parts) kept += each->kept();
      ASSERT_EQ(kept, whole.kept_for_all());
      ASSERT_LE(kept, whole.free_blocks() * kBlock);
    }
  }
}

}  // namespace
}  // namespace satrelay::arena_test
