#include "pep/base/containers/block_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "pep/base/random.h"

namespace satrelay::block_ring_test {
namespace {

// Writes `bytes` from `offset` on. Returns how many of them found room.
std::size_t write(BlockRing& ring, std::uint64_t offset, ConstBytes bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const MutableBytes room = ring.room_at(offset + done, bytes.size() - done);
    if (room.empty()) break;
    const std::size_t n = std::min(room.size(), bytes.size() - done);
    std::memcpy(room.data(), bytes.data() + done, n);
    done += n;
  }
  return done;
}

bool write_one(BlockRing& ring, std::uint64_t offset) {
  const std::byte one{1};
  return write(ring, offset, {&one, 1}) == 1;
}

class BlockRingTest : public testing::Test {
 protected:
  std::vector<std::byte> memory_ = std::vector<std::byte>(32 * 64);
  Arena arena_{memory_, 64};
};

TEST_F(BlockRingTest, AHighFirstOffsetCostsOneBlock) {
  BlockRing ring(arena_);
  const std::uint64_t high = (std::uint64_t{1} << 60) + 100;
  EXPECT_FALSE(ring.covers({high, high + 1}));
  ASSERT_TRUE(write_one(ring, high));
  EXPECT_EQ(arena_.used_blocks(), 1U);
  EXPECT_TRUE(ring.covers({high & ~std::uint64_t{63}, high + 1}));
  EXPECT_FALSE(ring.covers({high, high + 64}));
  // The span of keys is limited, and a refused write takes no block.
  EXPECT_FALSE(write_one(ring, 0));
  EXPECT_EQ(arena_.used_blocks(), 1U);
}

TEST_F(BlockRingTest, GrowsDownwardsToo) {
  BlockRing ring(arena_);
  ASSERT_TRUE(write_one(ring, 640));
  ASSERT_TRUE(write_one(ring, 64));
  EXPECT_TRUE(ring.covers({640, 700}));
  EXPECT_TRUE(ring.covers({64, 128}));
  EXPECT_FALSE(ring.covers({128, 129}));  // a hole
  EXPECT_EQ(arena_.used_blocks(), 2U);
}

TEST_F(BlockRingTest, ExhaustionLeavesTheRingAsItWas) {
  BlockRing ring(arena_);
  for (std::uint64_t i = 0; i < 32; ++i) ASSERT_TRUE(write_one(ring, i * 128));
  EXPECT_FALSE(write_one(ring, 64));        // a key within the span
  EXPECT_FALSE(write_one(ring, 32 * 128));  // a key beyond the span
  EXPECT_FALSE(ring.covers({64, 65}));
  ring.release_below(128);
  EXPECT_EQ(arena_.free_blocks(), 1U);
  EXPECT_TRUE(write_one(ring, 32 * 128));
}

TEST_F(BlockRingTest, GivesEverythingBackAtItsEnd) {
  {
    BlockRing ring(arena_);
    for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(write_one(ring, i * 640));
  }
  EXPECT_EQ(arena_.used_blocks(), 0U);
}

class ReserveTest : public testing::Test {
 protected:
  void take_all_blocks() {
    while (arena_.allocate() != kNoBlock) {
    }
  }
  std::vector<std::byte> memory_ = std::vector<std::byte>(8 * 64);
  Arena arena_{memory_, 64, 32};
};

TEST_F(ReserveTest, TakesWhatLiesWithinItFromTheBaseOn) {
  BlockRing ring(arena_);
  ASSERT_TRUE(ring.own());
  take_all_blocks();
  EXPECT_EQ(ring.own_end(), 32U);
  const std::vector<std::byte> bytes(100, std::byte{7});
  EXPECT_EQ(write(ring, 0, bytes), 32U);
  EXPECT_FALSE(write_one(ring, 32));
  ring.release_below(20);
  EXPECT_EQ(ring.own_end(), 52U);
  EXPECT_EQ(write(ring, 32, bytes), 20U);
  EXPECT_TRUE(ring.covers({20, 52}));
  ring.clear(1'000);
  EXPECT_EQ(write(ring, 1'000, bytes), 32U);
}

TEST_F(ReserveTest, FewBytesNeedNoBlock) {
  BlockRing ring(arena_);
  ASSERT_TRUE(ring.own());
  const std::vector<std::byte> bytes(100, std::byte{7});
  EXPECT_EQ(write(ring, 0, ConstBytes(bytes).first(30)), 30U);
  EXPECT_EQ(ring.blocks_held(), 0U);
  EXPECT_EQ(write(ring, 30, ConstBytes(bytes).first(3)), 3U);
  EXPECT_EQ(ring.blocks_held(), 1U);
}

TEST_F(ReserveTest, ABlockTakesOverWhatTheReserveHas) {
  BlockRing ring(arena_);
  ASSERT_TRUE(ring.own());
  std::vector<std::byte> bytes(100);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  ring.clear(50);
  ASSERT_EQ(write(ring, 50, ConstBytes(bytes).first(30)), 30U);  // spans two keys
  ring.release_below(60);
  ASSERT_EQ(write(ring, 80, ConstBytes(bytes).subspan(30, 20)), 20U);
  EXPECT_EQ(ring.blocks_held(), 1U);  // that of the second key
  EXPECT_EQ(ring.at(60)[0], std::byte{10});
  for (std::size_t i = 14; i < 50; ++i) ASSERT_EQ(ring.at(50 + i)[0], std::byte(i)) << i;
}

// Random writes and releases of several rings. A byte that was written and lies at or above the
// base reads back as it was written, unless its block was released. There is as much room as was
// promised, and all blocks are accounted for.
TEST(BlockRing, AgreesWithAMap) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::size_t reserve = std::size_t{8} << random.below(4);
    std::vector<std::byte> memory(24 * 64);
    Arena arena(memory, 64, reserve);
    struct Side {
      std::unique_ptr<BlockRing> ring;
      std::uint64_t base = 0, end = 0, forgotten = 0;
      std::map<std::uint64_t, std::byte> bytes;
    };
    std::vector<Side> sides(4);
    for (std::size_t i = 0; i < sides.size(); ++i) {
      Side& side = sides[i];
      side.ring = std::make_unique<BlockRing>(arena);
      side.base = side.end = random.below(2) == 0 ? 0 : random.next() >> 8;
      side.ring->clear(side.base);
      const bool has_reserve = i == 0 || side.ring->own();
      ASSERT_TRUE(has_reserve);
    }
    for (int step = 0; step < 3'000; ++step) {
      Side& side = sides[random.below(sides.size())];
      BlockRing& ring = *side.ring;
      const std::uint64_t dice = random.below(100);
      if (dice < 70) {
        const bool in_order = random.below(3) > 0;
        const std::uint64_t at =
            in_order ? side.end : std::max(side.forgotten, side.base + random.below(300));
        std::vector<std::byte> bytes(1 + random.below(100));
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
        const std::uint64_t free = arena.free_blocks();
        const std::uint64_t allowed = random.below(free + 1);
        const std::uint64_t room = ring.room_end(at, allowed) - at;
        const std::uint64_t most = ring.room_end(at, free) - at;
        // The room that was promised is there, whether the bytes are written in one piece or in
        // two.
        const std::size_t cut = random.below(bytes.size() + 1);
        std::size_t stored = write(ring, at, ConstBytes(bytes).first(cut));
        if (stored == cut) stored += write(ring, at + cut, ConstBytes(bytes).subspan(cut));
        ASSERT_GE(stored, std::min<std::uint64_t>(most, bytes.size()));
        const std::uint64_t taken = free - arena.free_blocks();
        ASSERT_TRUE(bytes.size() > room || taken <= allowed);
        if (at < ring.own_end()) {
          ASSERT_GE(stored, std::min<std::uint64_t>(ring.own_end() - at, bytes.size()));
        }
        for (std::size_t i = 0; i < stored; ++i) side.bytes[at + i] = bytes[i];
        side.end = std::max(side.end, at + stored);
      } else if (dice < 90) {
        side.base += random.below(side.end - side.base + 1);
        ring.release_below(side.base);
        side.bytes.erase(side.bytes.begin(), side.bytes.lower_bound(side.base));
        if (side.bytes.empty()) ring.clear(side.base);
      } else if (dice < 93) {
        side.base = side.end + random.below(100);
        side.end = side.base;
        ring.clear(side.base);
        side.bytes.clear();
      }
      if (dice >= 93 && side.end > side.base) {
        // Releases blocks in the middle. They are never written again.
        const std::uint64_t from = side.base + random.below(side.end - side.base);
        const std::uint64_t to = from + random.below(side.end - from + 1);
        ring.release_within(from, to);
        const std::uint64_t first = (from + 63) / 64 * 64, last = to / 64 * 64;
        if (first < last) {
          side.bytes.erase(side.bytes.lower_bound(first), side.bytes.lower_bound(last));
          side.forgotten = std::max(side.forgotten, last);
        }
      }
      std::size_t held = 0;
      for (const Side& each : sides) held += each.ring->blocks_held();
      ASSERT_EQ(arena.used_blocks(), held + arena.blocks_of_reserves());
      for (const auto& [at, byte] : side.bytes) {
        ASSERT_EQ(ring.at(at)[0], byte) << at;
        ASSERT_TRUE(ring.covers({at, at + 1}));
      }
    }
    sides.clear();
    EXPECT_EQ(arena.used_blocks(), 0U);
  }
}

}  // namespace
}  // namespace satrelay::block_ring_test
