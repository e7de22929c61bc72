// The block pool and the map from stream offsets to its blocks.
#include "pep/base/arena.h"

#include <gtest/gtest.h>

#include <map>
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

}  // namespace
}  // namespace satrelay
