#include "pep/base/containers/reassembler.h"

#include <gtest/gtest.h>

#include <map>

#include "pep/base/random.h"

namespace satrelay::reassembler_test {
namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

ConstBytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string read_all(Reassembler& reassembler) {
  std::string text;
  while (reassembler.readable() > 0) {
    const ConstBytes run = reassembler.front();
    for (const std::byte b : run) text += static_cast<char>(b);
    reassembler.consume(run.size());
  }
  return text;
}

class ReassemblerTest : public testing::Test {
 protected:
  std::vector<std::byte> memory_ = std::vector<std::byte>(8 * 16);
  Arena arena_{memory_, 16};
  Reassembler reassembler_{arena_, 1'000};
};

TEST_F(ReassemblerTest, RestoresOrder) {
  EXPECT_EQ(reassembler_.insert(6, bytes_of("world"), kNoLimit), 5U);
  EXPECT_EQ(reassembler_.readable(), 0U);
  EXPECT_TRUE(reassembler_.front().empty());
  EXPECT_EQ(reassembler_.highest(), 11U);
  EXPECT_EQ(reassembler_.stored(), 5U);
  EXPECT_EQ(reassembler_.insert(0, bytes_of("hello "), kNoLimit), 6U);
  EXPECT_EQ(reassembler_.in_order_end(), 11U);
  EXPECT_TRUE(reassembler_.out_of_order().empty());
  EXPECT_EQ(read_all(reassembler_), "hello world");
  EXPECT_EQ(reassembler_.consumed(), 11U);
  EXPECT_EQ(arena_.used_blocks(), 0U);
}

TEST_F(ReassemblerTest, TheFirstByteStoredWins) {
  EXPECT_EQ(reassembler_.insert(2, bytes_of("BB"), kNoLimit), 2U);
  EXPECT_EQ(reassembler_.insert(0, bytes_of("aaaaaa"), kNoLimit), 4U);
  EXPECT_EQ(reassembler_.insert(0, bytes_of("cccccc"), kNoLimit), 0U);
  EXPECT_EQ(reassembler_.insert(4, bytes_of("ddddd"), kNoLimit), 3U);
  EXPECT_EQ(read_all(reassembler_), "aaBBaaddd");
}

class PiecesTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kLimit = 4096;
  static constexpr std::size_t kMost = Reassembler::kFewestPieces + 4;  // one for each 1 KiB
  // Single bytes at even offsets from 10 on, as many pieces as the reassembler allows.
  PiecesTest() {
    for (std::uint64_t i = 0; i < kMost; ++i) {
      EXPECT_EQ(pieces_.insert(10 + 2 * i, bytes_of("x"), kLimit), 1U);
    }
  }
  std::vector<std::byte> memory_ = std::vector<std::byte>(64 * 64);
  Arena arena_{memory_, 64};
  Reassembler pieces_{arena_, 1024};
};

TEST_F(PiecesTest, NoMoreAreKeptThanMayBe) {
  const std::uint64_t last = 10 + 2 * (kMost - 1);
  EXPECT_FALSE(pieces_.has_place(last + 2, last + 3, kLimit));
  EXPECT_EQ(pieces_.insert(last + 2, bytes_of("y"), kLimit), 0U);
  const std::size_t used = arena_.used_blocks();
  EXPECT_EQ(pieces_.insert(2000, bytes_of("y"), kLimit), 0U);
  EXPECT_EQ(arena_.used_blocks(), used) << "nor do they take memory";
  EXPECT_EQ(pieces_.insert(last + 1, bytes_of("y"), kLimit), 1U) << "grows a piece";
  EXPECT_EQ(pieces_.insert(last + 3, bytes_of("y"), kLimit), 0U);
  EXPECT_EQ(pieces_.insert(11, bytes_of("y"), kLimit), 1U) << "joins two";
  EXPECT_EQ(pieces_.insert(last + 3, bytes_of("y"), kLimit), 1U) << "in their place";
  EXPECT_EQ(pieces_.out_of_order().range_count(), kMost);
  EXPECT_EQ(pieces_.insert(0, bytes_of("0123456789"), kLimit), 10U) << "in order";
  EXPECT_EQ(read_all(pieces_), "0123456789xyx");
}

TEST_F(PiecesTest, OneThatIsCutShortMakesNoneTooMany) {
  EXPECT_EQ(pieces_.insert(11, bytes_of("y"), kLimit), 1U);
  EXPECT_EQ(pieces_.insert(1000, bytes_of("x"), kLimit), 1U);
  ASSERT_EQ(pieces_.out_of_order().range_count(), kMost);
  std::vector<BlockIndex> taken;
  while (arena_.free_blocks() > 1) taken.push_back(arena_.allocate());
  // The bytes would reach the next piece, but the arena runs out of blocks two bytes after their
  // begin.
  EXPECT_EQ(pieces_.insert(830, std::vector<std::byte>(170), kLimit), 0U);
  EXPECT_EQ(pieces_.out_of_order().range_count(), kMost);
  for (const BlockIndex block : taken) arena_.release(block);
  EXPECT_EQ(pieces_.insert(830, std::vector<std::byte>(170), kLimit), 170U);
}

TEST_F(ReassemblerTest, StoresNothingBeyondTheLimit) {
  EXPECT_EQ(reassembler_.insert(0, bytes_of("abcdef"), 4), 4U);
  EXPECT_EQ(reassembler_.insert(4, bytes_of("ef"), 4), 0U);
  EXPECT_EQ(reassembler_.insert(1'000'000, bytes_of("x"), 4), 0U);
  reassembler_.consume(2);
  EXPECT_EQ(reassembler_.insert(4, bytes_of("efgh"), 4), 2U);
  EXPECT_EQ(read_all(reassembler_), "cdef");
}

TEST_F(ReassemblerTest, OffsetsNearTheEndOfSpaceAreHarmless) {
  EXPECT_EQ(reassembler_.insert(kNoLimit - 1, bytes_of("abc"), 100), 0U);
  // Without a limit, the ring refuses the span only if it stores something elsewhere.
  EXPECT_EQ(reassembler_.insert(1, bytes_of("b"), kNoLimit), 1U);
  EXPECT_EQ(reassembler_.insert(kNoLimit - 1, bytes_of("abc"), kNoLimit), 0U);
  EXPECT_EQ(reassembler_.insert(0, bytes_of("a"), kNoLimit), 1U);
  EXPECT_EQ(read_all(reassembler_), "ab");
}

TEST_F(ReassemblerTest, KeepsAPrefixWhenTheArenaIsExhausted) {
  const std::string text(200, 'x');
  EXPECT_EQ(reassembler_.insert(32, bytes_of(std::string(96, 'y')), kNoLimit), 96U);  // 6 blocks
  EXPECT_EQ(reassembler_.insert(160, bytes_of(text), kNoLimit), 32U);  // the last 2 blocks
  EXPECT_EQ(arena_.free_blocks(), 0U);
  EXPECT_EQ(reassembler_.insert(0, bytes_of("lost"), kNoLimit), 0U);
  EXPECT_EQ(reassembler_.in_order_end(), 0U);
  EXPECT_EQ(reassembler_.highest(), 192U);
  EXPECT_EQ(reassembler_.stored(), 128U);
  reassembler_.reset();
  EXPECT_EQ(arena_.used_blocks(), 0U);
  EXPECT_EQ(reassembler_.insert(0, bytes_of("ok"), kNoLimit), 2U);
  EXPECT_EQ(read_all(reassembler_), "ok");
}

TEST_F(ReassemblerTest, CopyFrontDoesNotConsume) {
  const std::string text = "0123456789abcdefghijklmnopqrstuvwxyz";
  ASSERT_EQ(reassembler_.insert(0, bytes_of(text), kNoLimit), text.size());
  reassembler_.consume(3);
  std::string out(30, ' ');
  reassembler_.copy_front(std::as_writable_bytes(std::span(out)));
  EXPECT_EQ(out, text.substr(3, 30));
  EXPECT_EQ(reassembler_.readable(), 33U);
  EXPECT_EQ(read_all(reassembler_), text.substr(3));
}

TEST_F(ReassemblerTest, RefusesToConsumeWhatIsNotReadable) {
  EXPECT_EQ(reassembler_.insert(0, bytes_of("abc"), kNoLimit), 3U);
  EXPECT_DEATH(reassembler_.consume(4), "");
}

// Pieces of one stream arrive in random order, overlapping and repeated. The limit varies and the
// arena is often exhausted. The result is compared with a map from offset to byte.
TEST(Reassembler, AgreesWithAMapOfBytes) {
  std::vector<std::byte> memory(24 * 32);
  Arena arena(memory, 32);
  std::uint64_t shortages = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Reassembler reassembler(arena, 1'000);
    std::map<std::uint64_t, std::byte> model;  // bytes that are not consumed yet
    std::uint64_t consumed = 0;
    std::uint64_t in_order = 0;
    for (int step = 0; step < 800; ++step) {
      if (random.below(10) < 7) {
        const std::uint64_t limit = random.below(1000);
        const std::uint64_t low = consumed > 50 ? consumed - 50 : 0;
        const std::uint64_t offset = random.chance(0.3) ? in_order : low + random.below(900);
        std::vector<std::byte> bytes(random.below(200));
        for (auto& b : bytes) b = static_cast<std::byte>(random.next());

        std::uint64_t wanted = 0;
        for (std::uint64_t at = offset; at < offset + bytes.size(); ++at) {
          if (at >= consumed && at < consumed + limit && !model.contains(at)) ++wanted;
        }
        const std::size_t stored = reassembler.insert(offset, bytes, limit);
        ASSERT_LE(stored, wanted);
        if (stored < wanted) {
          ASSERT_EQ(arena.free_blocks(), 0U);
          ++shortages;
        }
        std::size_t left = stored;  // the stored bytes are the first of the wanted ones
        for (std::uint64_t at = offset; left > 0; ++at) {
          ASSERT_LT(at, offset + bytes.size());
          if (at >= consumed && model.try_emplace(at, bytes[at - offset]).second) --left;
        }
        while (model.contains(in_order)) ++in_order;
      } else {
        const std::uint64_t n = random.below(in_order - consumed + 1);
        std::vector<std::byte> out(n);
        reassembler.copy_front(out);
        for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(out[i], model.at(consumed + i));
        reassembler.consume(n);
        consumed += n;
        model.erase(model.begin(), model.lower_bound(consumed));
      }
      ASSERT_EQ(reassembler.consumed(), consumed);
      ASSERT_EQ(reassembler.in_order_end(), in_order);
      ASSERT_EQ(reassembler.stored(), model.size());
      ASSERT_EQ(reassembler.highest(),
                model.empty() ? in_order : std::max(in_order, model.rbegin()->first + 1));
      for (const Range r : reassembler.out_of_order().ranges()) {
        ASSERT_GT(r.begin, in_order);
        ASSERT_TRUE(model.contains(r.begin) && model.contains(r.end - 1));
      }
      const ConstBytes front = reassembler.front();
      ASSERT_EQ(front.empty(), in_order == consumed);
      for (std::size_t i = 0; i < front.size(); ++i) ASSERT_EQ(front[i], model.at(consumed + i));
    }
  }
  EXPECT_GT(shortages, 0U);
  EXPECT_EQ(arena.used_blocks(), 0U);
}

}  // namespace
}  // namespace satrelay::reassembler_test
