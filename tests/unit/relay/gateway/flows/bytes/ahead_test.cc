// How far a host may be ahead of the link, and how large its blocks are.
#include "relay/gateway/flows/bytes/ahead.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::ahead_test {
namespace {

constexpr std::uint64_t kLeast = 4 * 1460;
constexpr std::uint64_t kMostAtFirst = 64 * 1024;
constexpr std::uint64_t kLeastCompressed = 2'000;
constexpr BitRate kbit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000); }
constexpr BitRate mbit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }

class AheadTest : public testing::Test {
 protected:
  std::uint64_t ahead() const { return most_ahead(f_, outlook_, now_); }
  LargestBlock largest() {
    end_block(f_, outlook_, now_);
    return largest_block(f_, outlook_, now_);
  }
  std::uint64_t block() { return largest().raw; }
  void pass(std::int64_t ms) { now_ += Duration::milliseconds(ms); }
  // `times` times, `plain` bytes of the host leave as `encoded` bytes of the stream, and `ms` pass.
  void leave(std::uint64_t plain, std::uint64_t encoded, std::int64_t ms, int times) {
    for (int i = 0; i < times; ++i) {
      note(plain, encoded);
      pass(ms);
    }
  }
  void leave(std::uint64_t bytes, std::int64_t ms, int times) { leave(bytes, bytes, ms, times); }
  void note(std::uint64_t plain, std::uint64_t encoded) {
    f_.heat(now_);
    end_block(f_, outlook_, now_);
    f_.hot()->departures.begin_block(plain, encoded, rest_);
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(64 * 1024);
  Arena arena_{memory_, 1024, 512};
  tcp::Counters counters_;
  tcp::Config config_;
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  Outlook outlook_{Duration::milliseconds(600), mbit(10)};
  bool rest_ = true;  // more bytes of the host wait behind each block
  Flow f_{FlowKey{ip_of("203.0.113.5"), ip_of("198.51.100.5"), 1, 80, {}},
          std::make_shared<ActiveRule>(),
          Origin::kLan,
          config_,
          arena_,
          tcp::Endpoint::Shared{&counters_, {}},
          now_};
};

TEST_F(AheadTest, AtFirstABlockIsOffered) {
  for (const auto& [kbit, bytes] : {std::pair{64U, kLeast},
                                    {1'000U, std::uint64_t{25'000}},
                                    {2'000U, std::uint64_t{50'000}},
                                    {10'000U, kMostAtFirst},
                                    {0U, kLeast}}) {
    outlook_.share = BitRate::bits_per_second(kbit * 1000ULL);
    EXPECT_EQ(ahead(), bytes) << kbit;
    f_.heat(now_);
    EXPECT_EQ(ahead(), bytes) << kbit << ", as its host has sent something";
    f_.cool();
  }
}

// The limit grows like a window in slow start, but no further than what the link takes in a flight.
TEST_F(AheadTest, AFlowGrowsAsItsBytesLeave) {
  leave(40'000, 10, 1);
  EXPECT_EQ(ahead(), 320'000U);
  leave(40'000, 10, 1);
  EXPECT_EQ(ahead(), 640'000U);
  leave(12'500, 10, 20);
  EXPECT_EQ(ahead(), 1'000'000U) << "10 Mbit/s for 800 ms";
}

// Other sessions wait for the carrier, so the flow gets less than its share.
TEST_F(AheadTest, ALinkThatTakesLessIsMeasured) {
  leave(20'000, 200, 20);
  EXPECT_NEAR(static_cast<double>(ahead()), 200'000, 20'000)
      << "twice 100 kB/s for 800 ms and what is leaving";
  EXPECT_NEAR(static_cast<double>(block()), 45'000, 7'000) << "twice that for 200 ms, in blocks";
  leave(20'000, 4'000, 3);
  EXPECT_EQ(ahead(), kMostAtFirst) << "20 kB each 4 s";
  EXPECT_NEAR(static_cast<double>(block()), 2'000, 100) << "twice 5 kB/s for 200 ms";
}

// A class with more weight gets more than an equal part among the waiting ones.
TEST_F(AheadTest, ALinkThatTakesMoreIsMeasured) {
  outlook_.share = mbit(1);
  leave(50'000, 100, 30);
  EXPECT_NEAR(static_cast<double>(ahead()), 400'000, 30'000) << "500 kB/s for 800 ms";
  EXPECT_EQ(block(), 25'000U);
}

TEST_F(AheadTest, WhatCompressesIsCountedAsItWas) {
  outlook_.share = mbit(1);
  leave(64'000, 16'000, 128, 30);
  EXPECT_NEAR(static_cast<double>(ahead()), 400'000, 40'000) << "100 kB of the stream";
  EXPECT_EQ(block(), 25'000U) << "of the stream";
  EXPECT_EQ(f_.hot()->departures.plain_of(block()), 100'000U);
}

// Small blocks compress worse.
TEST_F(AheadTest, ACompressedBlockMayTakeTheLinkLonger) {
  outlook_.share = kbit(64);
  EXPECT_EQ(largest().compressed, 4'800U) << "600 ms";
  EXPECT_EQ(largest().raw, 1'600U) << "200 ms";
  leave(19'200, 4'800, 600, 10);
  EXPECT_EQ(largest().compressed, 4'800U);
  EXPECT_LE(ahead(), 3 * 19'200U);
  leave(1'000, 4'000, 3);
  EXPECT_EQ(largest().compressed, kLeastCompressed) << "250 bytes a second leave";
}

// Whatever the flow's share is, its next block is here when the last one has left.
TEST_F(AheadTest, ACompressedBlockOfSomeSizeIsAlwaysHere) {
  outlook_.share = kbit(2);
  EXPECT_EQ(largest().compressed, kLeastCompressed);
  leave(8'000, 2'000, 8'000, 3);
  EXPECT_EQ(ahead(), 8'000U);
  outlook_ = {Duration::milliseconds(20), mbit(1)};
  leave(40'000, 10'000, 80, 20);
  EXPECT_NEAR(static_cast<double>(ahead()), 300'000, 10'000) << "600 ms, not only a flight of 400";
}

TEST_F(AheadTest, ABlockOfZerosPromisesNoMoreThanABlockHolds) {
  outlook_.share = kbit(2);
  leave(compress::kMaxPlainBlock, 20, 1, 8);
  EXPECT_GT(f_.hot()->departures.plain_of(kLeastCompressed), compress::kMaxPlainBlock);
  pass(60'000);
  EXPECT_EQ(ahead(), compress::kMaxPlainBlock);
  leave(1'460, 1'464, 1, 1);
  pass(60'000);
  EXPECT_EQ(ahead(), kLeast) << "nothing, once bytes are random";
}

// If a block left before a pause, it is not known when. And the content may change.
TEST_F(AheadTest, WhatLeftLongAgoIsForgotten) {
  rest_ = false;
  leave(60'000, 10, 1);
  pass(5'000);
  block();
  EXPECT_EQ(ahead(), kMostAtFirst);
}

TEST_F(AheadTest, OneBlockOfZerosSaysLittle) {
  outlook_.share = mbit(1);
  note(64'000, 100);
  EXPECT_EQ(f_.hot()->departures.plain_of(block()), 2 * 25'000U);
}

TEST_F(AheadTest, AHostThatIsHeldBackHasMore) {
  outlook_.share = mbit(1);
  leave(12'500, 100, 20);
  ahead();
  EXPECT_TRUE(fills_a_flight(f_, 80'000));
  EXPECT_FALSE(fills_a_flight(f_, 60'000));
}

TEST_F(AheadTest, APauseOfTheHostIsNoMeasure) {
  rest_ = false;
  leave(1'000, 10'000, 3);
  EXPECT_EQ(block(), mbit(10).bytes_in(Duration::milliseconds(200)).value());
  rest_ = true;
  leave(1'000, 10'000, 3);
  EXPECT_LT(block(), 1'000U) << "the link is slow";
  leave(50'000, 40, 30);
  EXPECT_EQ(block(), 250'000U);
}

}  // namespace
}  // namespace satrelay::gateway::ahead_test
