#include "pep/base/image/image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "pep/base/containers/byte_queue.h"
#include "pep/base/containers/reassembler.h"
#include "pep/base/recent_count.h"

namespace satrelay::image_test {
namespace {

constexpr std::size_t kBlock = 64;

Instant at_ms(std::int64_t ms) { return Instant() + Duration::milliseconds(ms); }

template <typename Part>
std::vector<std::byte> written(Part& part, Instant now = {}) {
  std::vector<std::byte> octets;
  Image image = Image::writer(octets, now);
  image(part);
  return octets;
}

// Whether all octets were read.
template <typename Part>
bool read(ConstBytes octets, Part& part, Instant now = {}) {
  Image image = Image::reader(octets, now);
  image(part);
  return image.complete();
}

struct Memory {
  std::vector<std::byte> octets = std::vector<std::byte>(16 * kBlock);
  Arena arena{octets, kBlock, kBlock / 4};
};

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

enum class Kind : std::uint8_t { kOne = 1, kLast = 255 };

struct Example {
  bool flag = false;
  bool bit : 1 = false;
  Kind kind = Kind::kOne;
  std::int16_t negative = 0;
  std::uint64_t large = 0;
  double share = 0;
  Instant due = Instant::never();
  Instant past;
  Duration forever;
  BitRate rate;
  ByteCount bytes;
  std::optional<std::uint32_t> absent = 5, present;
  std::unique_ptr<std::uint16_t> none = std::make_unique<std::uint16_t>(), some;
  std::array<std::uint8_t, 3> three{};
  std::vector<Duration> many;

  void image(Image& image) {
    image(flag, kind, negative, large, share, due, past, forever, rate, bytes, absent, present,
          none, some, three, many);
    bit = image.same(bit);
  }
};

TEST(Image, AllKindsOfPartsComeBack) {
  Example one;
  one.flag = one.bit = true;
  one.kind = Kind::kLast;
  one.negative = -2;
  one.large = ~std::uint64_t{0} - 1;
  one.share = -0.125;
  one.past = at_ms(40);
  one.forever = Duration::infinite();
  one.rate = BitRate::bits_per_second(7);
  one.bytes = ByteCount(9);
  one.absent.reset();
  one.present = 8;
  one.none.reset();
  one.some = std::make_unique<std::uint16_t>(std::uint16_t{11});
  one.three = {1, 2, 3};
  one.many = {Duration::seconds(1), Duration::nanoseconds(-1)};
  const std::vector<std::byte> octets = written(one, at_ms(100));

  Example two;
  ASSERT_TRUE(read(octets, two, at_ms(1'000)));
  EXPECT_TRUE(two.flag && two.bit);
  EXPECT_EQ(two.kind, Kind::kLast);
  EXPECT_EQ(two.negative, -2);
  EXPECT_EQ(two.large, ~std::uint64_t{0} - 1);
  EXPECT_EQ(two.share, -0.125);
  EXPECT_TRUE(two.due.is_never());
  EXPECT_EQ(two.past, at_ms(940));  // as long ago as it was
  EXPECT_TRUE(two.forever.is_infinite());
  EXPECT_EQ(two.rate, one.rate);
  EXPECT_EQ(two.bytes, one.bytes);
  EXPECT_FALSE(two.absent);
  EXPECT_EQ(two.present, 8U);
  EXPECT_EQ(two.none, nullptr);
  EXPECT_EQ(*two.some, 11);
  EXPECT_EQ(two.three, one.three);
  EXPECT_EQ(two.many, one.many);
}

TEST(Image, EachMissingOctetIsNoticed) {
  Example one;
  one.many.resize(3);
  const std::vector<std::byte> octets = written(one);
  for (std::size_t size = 0; size < octets.size(); ++size) {
    Example two;
    EXPECT_FALSE(read(ConstBytes(octets).first(size), two)) << size;
  }
  std::vector<std::byte> longer = octets;
  longer.push_back({});
  Example two;
  EXPECT_FALSE(read(longer, two));
}

// A count that no octets can follow would allocate as much as it likes.
TEST(Image, ACountBeyondTheOctetsIsRefused) {
  std::uint64_t count = std::uint64_t{1} << 60;
  std::vector<std::uint8_t> many;
  EXPECT_FALSE(read(written(count), many));
  EXPECT_TRUE(many.empty());
}

TEST(Image, AHistoryGoesOn) {
  RecentCount one(at_ms(0));
  one.add(5, Duration::seconds(1), at_ms(500));
  const std::vector<std::byte> octets = written(one, at_ms(600));
  RecentCount two;
  ASSERT_TRUE(read(octets, two, at_ms(10'600)));
  EXPECT_EQ(two.amount(Duration::seconds(1), at_ms(10'900)), 5U);
  EXPECT_EQ(two.amount(Duration::seconds(1), at_ms(12'100)), 0U);
}

TEST(Image, RangesKeepTheCostOfTheirEdits) {
  RangeSet one;
  for (std::uint64_t i = 0; i < 20; ++i) one.insert(i * 10, i * 10 + 3);
  one.erase_below(35);
  RangeSet two;
  ASSERT_TRUE(read(written(one), two));
  for (std::uint64_t i = 40; i > 4; --i) {
    one.insert(i * 5, i * 5 + 1);
    two.insert(i * 5, i * 5 + 1);
    ASSERT_EQ(one.moved(), two.moved());
  }
  EXPECT_EQ(one.total(), two.total());
  EXPECT_TRUE(std::ranges::equal(one.ranges(), two.ranges()));
}

TEST(Image, RangesOutOfOrderAreRefused) {
  RangeSet one;
  one.insert(10, 20);
  one.insert(30, 40);
  std::vector<std::byte> octets = written(one);
  octets[octets.size() - 16] = std::byte{15};  // the second begins within the first
  RangeSet two;
  EXPECT_FALSE(read(octets, two));
}

// The blocks stay where they are. The queue that was written holds none, and gives none back.
TEST(Image, AQueueTakesItsBlocksAlong) {
  Memory memory;
  auto one = std::make_unique<ByteQueue>(memory.arena);
  ASSERT_TRUE(one->own());
  const std::vector<std::byte> bytes = pattern(3 * kBlock + 5);
  ASSERT_EQ(one->append(bytes), bytes.size());
  one->release_below(kBlock + 1);
  const std::size_t used = memory.arena.used_blocks();
  const std::vector<std::byte> octets = written(*one);
  EXPECT_EQ(one->blocks_held(), 0U);
  one.reset();
  EXPECT_EQ(memory.arena.used_blocks(), used);
  {
    ByteQueue two(memory.arena);
    ASSERT_TRUE(read(octets, two));
    EXPECT_TRUE(two.has_reserve());
    EXPECT_EQ(two.begin(), kBlock + 1);
    ASSERT_EQ(two.end(), bytes.size());
    std::vector<std::byte> copy(two.size());
    two.copy_out(two.begin(), copy);
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), bytes.begin() + kBlock + 1));
  }
  EXPECT_EQ(memory.arena.used_blocks(), 0U);
}

TEST(Image, BytesBeyondAGapComeBackInAnotherArena) {
  Memory from, to;
  Reassembler one(from.arena, 16);
  const std::vector<std::byte> bytes = pattern(5 * kBlock);
  const ConstBytes all(bytes);
  ASSERT_EQ(one.insert(0, all.first(10), kBlock * 8), 10U);
  ASSERT_EQ(one.insert(kBlock, all.subspan(kBlock), kBlock * 8), 4 * kBlock);
  // As between two processes: the image, then the accounts and the octets of the arena.
  const std::vector<std::byte> octets = written(one);
  ASSERT_TRUE(read(written(from.arena), to.arena));
  std::copy(from.octets.begin(), from.octets.end(), to.octets.begin());
  Reassembler two(to.arena, 16);
  ASSERT_TRUE(read(octets, two));
  EXPECT_EQ(two.readable(), 10U);
  ASSERT_EQ(two.insert(10, all.subspan(10, kBlock - 10), kBlock * 8), kBlock - 10);
  ASSERT_EQ(two.readable(), bytes.size());
  std::vector<std::byte> copy(bytes.size());
  two.copy_front(copy);
  EXPECT_EQ(copy, bytes);
  two.consume(bytes.size());
  EXPECT_TRUE(two.is_stored());
}

// The image of a queue with two blocks ends with their numbers and the end of the bytes.
TEST(Image, ABlockThatTheImageDoesNotHaveIsRefused) {
  Memory memory;
  ByteQueue other(memory.arena), one(memory.arena), divided(memory.arena);
  ASSERT_EQ(other.append(pattern(kBlock)), kBlock);
  ASSERT_EQ(one.append(pattern(2 * kBlock)), 2 * kBlock);
  ASSERT_TRUE(divided.own());
  const std::size_t used = memory.arena.used_blocks();
  const std::vector<std::byte> octets = written(one);
  const std::size_t at = octets.size() - sizeof(std::uint64_t) - sizeof(BlockIndex);
  ASSERT_EQ(octets[at], std::byte{2});
  // A block of another queue, one of the image twice, a divided one, a free one, one too many.
  for (const unsigned block : {0U, 1U, 3U, 4U, 16U}) {
    std::vector<std::byte> wrong = octets;
    wrong[at] = static_cast<std::byte>(block);
    ByteQueue two(memory.arena);
    EXPECT_FALSE(read(wrong, two)) << block;
    written(two);  // the image has its blocks again
  }
  ByteQueue two(memory.arena);
  EXPECT_TRUE(read(octets, two));
  EXPECT_EQ(memory.arena.used_blocks(), used);
  ByteQueue three(memory.arena);
  EXPECT_FALSE(read(octets, three)) << "the blocks are taken";
}

TEST(Image, AReserveThatTheImageDoesNotHaveIsRefused) {
  Memory memory;
  ByteQueue one(memory.arena), other(memory.arena);
  ASSERT_TRUE(one.own());
  ASSERT_TRUE(other.own());
  const std::vector<std::byte> octets = written(one);
  constexpr std::size_t kAt = sizeof(std::uint64_t);
  // One of the other queue, a free one, one of a free block, one too many.
  for (const unsigned reserve : {1U, 2U, 4U, 64U}) {
    std::vector<std::byte> wrong = octets;
    wrong[kAt] = static_cast<std::byte>(reserve);
    ByteQueue two(memory.arena);
    EXPECT_FALSE(read(wrong, two)) << reserve;
    EXPECT_FALSE(two.has_reserve());
  }
  ByteQueue two(memory.arena);
  EXPECT_TRUE(read(octets, two));
  EXPECT_EQ(memory.arena.reserves_taken(), 2U);
}

// If a byte counts as stored and lies nowhere, the gateway would stop when it reads that byte.
TEST(Image, BytesThatLieNowhereAreRefused) {
  Memory memory;
  ByteQueue one(memory.arena);
  Reassembler other(memory.arena, 16);
  ASSERT_EQ(one.append(pattern(kBlock)), kBlock);
  ASSERT_EQ(other.insert(0, pattern(kBlock), kBlock), kBlock);
  std::vector<std::byte> octets = written(other);
  octets[octets.size() - sizeof(std::uint64_t)] = std::byte{kBlock + 1};
  Reassembler longer(memory.arena, 16);
  EXPECT_FALSE(read(octets, longer));
  octets = written(one);
  octets[octets.size() - sizeof(std::uint64_t)] = std::byte{kBlock + 1};
  ByteQueue queue(memory.arena);
  ASSERT_TRUE(read(octets, queue));
  EXPECT_FALSE(queue.covers({queue.begin(), queue.end()}));
}

TEST(Image, AccountsOfAnotherArenaAreRefused) {
  Memory memory;
  ByteQueue one(memory.arena);
  ASSERT_EQ(one.append(pattern(kBlock)), kBlock);
  const std::vector<std::byte> octets = written(memory.arena);
  std::vector<std::byte> twice = octets;
  twice[8] = octets[12];  // the first free block
  Memory to;
  EXPECT_FALSE(read(twice, to.arena));
  std::vector<std::byte> larger(17 * kBlock);
  Arena arena(larger, kBlock, kBlock / 4);
  EXPECT_FALSE(read(octets, arena));
}

TEST(Image, AnInstantBeyondTheLastIsRefused) {
  Instant last = at_ms(1'000);
  std::vector<std::byte> octets = written(last, at_ms(0));
  octets.back() = std::byte{0x7f};
  EXPECT_FALSE(read(octets, last, at_ms(std::int64_t{1} << 40U)));
}

TEST(Image, ANumberBeyondItsLimitIsRefused) {
  std::uint8_t number = 4;
  std::vector<std::byte> octets;
  Image::writer(octets, {}).at_most(4, number);
  Image image = Image::reader(octets, {});
  image.at_most(3, number);
  EXPECT_TRUE(image.failed());
  EXPECT_EQ(number, 0);
}

}  // namespace
}  // namespace satrelay::image_test
