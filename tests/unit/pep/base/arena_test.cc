// The block pool and the map from stream offsets to its blocks.
#include "pep/base/arena.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "pep/base/block_ring.h"
#include "pep/base/random.h"

namespace satrelay {
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

class BlockRingTest : public testing::Test {
 protected:
  std::vector<std::byte> memory_ = std::vector<std::byte>(32 * 64);
  Arena arena_{memory_, 64};
};

TEST_F(BlockRingTest, AHighFirstOffsetCostsOneBlock) {
  BlockRing ring(arena_);
  const std::uint64_t high = (std::uint64_t{1} << 60) + 100;
  EXPECT_EQ(ring.find(high), kNoBlock);
  const BlockIndex block = ring.find_or_allocate(high);
  ASSERT_NE(block, kNoBlock);
  EXPECT_EQ(arena_.used_blocks(), 1U);
  EXPECT_EQ(ring.find(high), block);
  EXPECT_EQ(ring.find(high & ~std::uint64_t{63}), block);
  EXPECT_EQ(ring.find(high + 64), kNoBlock);
  EXPECT_EQ(ring.find(0), kNoBlock);
  // The span of keys is bounded, and a refusal takes no block.
  EXPECT_EQ(ring.find_or_allocate(0), kNoBlock);
  EXPECT_EQ(arena_.used_blocks(), 1U);
}

TEST_F(BlockRingTest, GrowsDownwardsToo) {
  BlockRing ring(arena_);
  const BlockIndex upper = ring.find_or_allocate(640);
  const BlockIndex lower = ring.find_or_allocate(64);
  EXPECT_NE(upper, lower);
  EXPECT_EQ(ring.find(640), upper);
  EXPECT_EQ(ring.find(64), lower);
  EXPECT_EQ(ring.find(128), kNoBlock);  // a hole
  EXPECT_EQ(arena_.used_blocks(), 2U);
}

TEST_F(BlockRingTest, ExhaustionLeavesTheRingAsItWas) {
  BlockRing ring(arena_);
  for (std::uint64_t i = 0; i < 32; ++i) ASSERT_NE(ring.find_or_allocate(i * 128), kNoBlock);
  EXPECT_EQ(ring.find_or_allocate(64), kNoBlock);        // inside the span
  EXPECT_EQ(ring.find_or_allocate(32 * 128), kNoBlock);  // outside it
  EXPECT_EQ(ring.find(64), kNoBlock);
  ring.release_below(128);
  EXPECT_EQ(arena_.free_blocks(), 1U);
  EXPECT_NE(ring.find_or_allocate(32 * 128), kNoBlock);
}

TEST_F(BlockRingTest, GivesEverythingBackAtItsEnd) {
  {
    BlockRing ring(arena_);
    for (std::uint64_t i = 0; i < 20; ++i) EXPECT_NE(ring.find_or_allocate(i * 640), kNoBlock);
  }
  EXPECT_EQ(arena_.used_blocks(), 0U);
}

TEST_F(BlockRingTest, AgreesWithAMap) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    BlockRing ring(arena_);
    std::map<std::uint64_t, BlockIndex> model;  // by key
    std::uint64_t base = random.below(2) == 0 ? 0 : random.next() >> 8;
    for (int step = 0; step < 500; ++step) {
      const std::uint64_t offset = base + random.below(64 * 100);
      const std::uint64_t dice = random.below(100);
      if (dice < 60) {
        const BlockIndex block = ring.find_or_allocate(offset);
        const auto [entry, fresh] = model.try_emplace(offset / 64, block);
        if (fresh && block == kNoBlock) {
          ASSERT_EQ(model.size(), 33U);  // refused only when the arena was empty
          model.erase(entry);
        } else {
          ASSERT_EQ(entry->second, block);
        }
      } else if (dice < 75) {
        base += random.below(640);
        ring.release_below(base);
        model.erase(model.begin(), model.lower_bound(base / 64));
      } else if (dice < 77) {
        base += random.below(1'000'000);
        ring.clear(base);
        model.clear();
      } else {
        const auto entry = model.find(offset / 64);
        ASSERT_EQ(ring.find(offset), entry == model.end() ? kNoBlock : entry->second);
      }
      ASSERT_EQ(arena_.used_blocks(), model.size());
    }
  }
  EXPECT_EQ(arena_.used_blocks(), 0U);
}

TEST(Arena, WhatIsSetAsideNobodyElseGets) {
  std::vector<std::byte> memory(4 * 64);
  Arena arena(memory, 64);
  ASSERT_TRUE(arena.set_aside(3));
  EXPECT_EQ(arena.free_blocks(), 1U);
  EXPECT_FALSE(arena.set_aside(2));
  EXPECT_NE(arena.allocate(), kNoBlock);
  EXPECT_EQ(arena.allocate(), kNoBlock);
  const BlockIndex own = arena.allocate_set_aside();
  EXPECT_NE(own, kNoBlock);
  EXPECT_EQ(arena.set_aside_blocks(), 2U);
  EXPECT_EQ(arena.used_blocks(), 2U);
  arena.release_set_aside(own);
  EXPECT_EQ(arena.allocate(), kNoBlock);
  arena.give_up(3);
  EXPECT_NE(arena.allocate(), kNoBlock);
}

TEST(BlockRing, ItsOwnBlocksAreTheFirstFromItsBaseOn) {
  std::vector<std::byte> memory(8 * 64);
  Arena arena(memory, 64);
  BlockRing ring(arena);
  ASSERT_TRUE(ring.own(2));
  std::vector<BlockIndex> others;
  for (BlockIndex block = arena.allocate(); block != kNoBlock; block = arena.allocate()) {
    others.push_back(block);
  }
  EXPECT_EQ(others.size(), 6U);
  EXPECT_EQ(ring.own_end(), 128U);
  EXPECT_EQ(ring.find_or_allocate(128), kNoBlock);
  EXPECT_NE(ring.find_or_allocate(64), kNoBlock);  // in any order
  EXPECT_NE(ring.find_or_allocate(0), kNoBlock);
  ring.release_below(64);
  EXPECT_EQ(ring.own_end(), 192U);
  EXPECT_NE(ring.find_or_allocate(128), kNoBlock);
  EXPECT_EQ(ring.find_or_allocate(192), kNoBlock);
  ring.clear(1'000);
  EXPECT_NE(ring.find_or_allocate(1'000), kNoBlock);
  EXPECT_NE(ring.find_or_allocate(1'060), kNoBlock);
  EXPECT_EQ(ring.find_or_allocate(1'100), kNoBlock);
}

TEST(BlockRing, WhatItTookOfTheOthersBecomesItsOwn) {
  std::vector<std::byte> memory(6 * 64);
  Arena arena(memory, 64);
  BlockRing ring(arena);
  ASSERT_TRUE(ring.own(2));
  for (std::uint64_t at = 0; at < 4 * 64; at += 64) ASSERT_NE(ring.find_or_allocate(at), kNoBlock);
  EXPECT_EQ(arena.set_aside_blocks(), 0U);
  EXPECT_EQ(arena.free_blocks(), 2U);
  ring.release_below(128);  // two are left, which are its own now
  EXPECT_EQ(arena.set_aside_blocks(), 0U);
  EXPECT_EQ(arena.free_blocks(), 4U);
  ring.release_below(192);
  EXPECT_EQ(arena.set_aside_blocks(), 1U);
  EXPECT_EQ(arena.free_blocks(), 4U);
}

// Whatever a ring does, as many blocks are set aside as it may still take, and no more.
TEST(BlockRing, AccountsForItsOwnBlocks) {
  Random random(7);
  std::vector<std::byte> memory(64 * 64);
  Arena arena(memory, 64);
  {
    std::vector<std::unique_ptr<BlockRing>> rings;
    std::vector<std::uint64_t> bases(6);
    for (std::size_t i = 0; i < bases.size(); ++i) {
      rings.push_back(std::make_unique<BlockRing>(arena));
      ASSERT_TRUE(rings.back()->own(static_cast<std::uint32_t>(i % 4)));
    }
    for (int step = 0; step < 20'000; ++step) {
      const std::size_t i = random.below(rings.size());
      BlockRing& ring = *rings[i];
      const std::uint64_t at = bases[i] + random.below(12 * 64);
      switch (random.below(8)) {
        case 0:
          bases[i] += random.below(3 * 64);
          ring.release_below(bases[i]);
          break;
        case 1:
          ring.release_within(at, at + random.below(5 * 64));
          break;
        case 2:
          bases[i] += random.below(1'000);
          ring.clear(bases[i]);
          break;
        default:
          const bool stored = ring.find_or_allocate(at) != kNoBlock;
          EXPECT_TRUE(stored || at >= ring.own_end());
          break;
      }
      std::size_t held = 0, set_aside = 0;
      for (const auto& each : rings) {
        held += each->blocks_held();
        set_aside += each->own_blocks() - each->own_blocks_held();
      }
      ASSERT_EQ(arena.used_blocks(), held) << step;
      ASSERT_EQ(arena.set_aside_blocks(), set_aside) << step;
      ASSERT_EQ(arena.free_blocks(), 64 - held - set_aside) << step;
    }
  }
  EXPECT_EQ(arena.free_blocks(), 64U);
}

}  // namespace
}  // namespace satrelay
