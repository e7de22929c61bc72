#include "pep/stp/fec/fec_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/fec/fec_policy.h"

namespace satrelay::stp {
namespace {

using Symbol = std::vector<std::byte>;

std::vector<Symbol> random_symbols(std::size_t count, std::size_t size, Random& random) {
  std::vector<Symbol> symbols(count, Symbol(size));
  for (Symbol& symbol : symbols) {
    for (std::byte& b : symbol) b = static_cast<std::byte>(random.below(256));
  }
  return symbols;
}

std::vector<std::byte*> pointers(std::vector<Symbol>& symbols) {
  std::vector<std::byte*> out;
  for (Symbol& symbol : symbols) out.push_back(symbol.data());
  return out;
}

std::vector<Symbol> encode(const FecCodec& codec, const std::vector<Symbol>& sources,
                           std::size_t repairs, std::size_t size) {
  std::vector<Symbol> out(repairs, Symbol(size));
  const auto rows = pointers(out);
  for (std::size_t i = 0; i < sources.size(); ++i) codec.add(i, sources[i], rows);
  return out;
}

// Takes `lost` away and gets them back from `rows`.
void expect_recovery(FecCodec& codec, const std::vector<Symbol>& sources,
                     const std::vector<Symbol>& repairs, const std::vector<std::uint8_t>& lost,
                     const std::vector<std::uint8_t>& rows) {
  const std::size_t size = repairs[0].size();
  std::vector<Symbol> in;
  for (const std::uint8_t row : rows) in.push_back(repairs[row]);
  std::vector<Symbol> out(lost.size(), Symbol(size));
  const auto in_pointers = pointers(in);
  const auto out_pointers = pointers(out);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool is_lost = std::ranges::find(lost, i) != lost.end();
    if (!is_lost) codec.add(i, sources[i], rows, in_pointers);
  }
  codec.solve(rows, lost, in_pointers, out_pointers, size);
  for (std::size_t i = 0; i < lost.size(); ++i) {
    Symbol expected = sources[lost[i]];
    expected.resize(size);
    ASSERT_EQ(out[i], expected) << "source " << int{lost[i]} << " of " << sources.size();
  }
}

std::vector<std::uint8_t> set_bits(unsigned pattern) {
  std::vector<std::uint8_t> out;
  for (std::uint8_t i = 0; i < 16; ++i) {
    if ((pattern >> i & 1U) != 0) out.push_back(i);
  }
  return out;
}

TEST(FecCodec, EveryPatternOfLossesOfSmallBlocksIsRepaired) {
  FecCodec codec;
  Random random(1);
  constexpr std::size_t kRepairs = 4;
  int patterns = 0;
  for (std::size_t k = 1; k <= 6; ++k) {
    const auto sources = random_symbols(k, 128, random);
    const auto repairs = encode(codec, sources, kRepairs, 128);
    for (unsigned lost = 1; lost < 1U << k; ++lost) {
      for (unsigned rows = 1; rows < 1U << kRepairs; ++rows) {
        if (std::popcount(lost) != std::popcount(rows)) continue;
        expect_recovery(codec, sources, repairs, set_bits(lost), set_bits(rows));
        ++patterns;
      }
    }
  }
  EXPECT_GT(patterns, 300);
}

TEST(FecCodec, RandomLossesOfTheLargestBlockAreRepaired) {
  FecCodec codec;
  Random random(2);
  const auto sources = random_symbols(FecCodec::kMaxSources, 1472, random);
  // 1472 is 23 units.
  const auto repairs = encode(codec, sources, FecCodec::kMaxRepairs, 1472);
  for (std::size_t losses = 1; losses <= FecCodec::kMaxRepairs; ++losses) {
    std::vector<std::uint8_t> places(FecCodec::kMaxSources);
    std::vector<std::uint8_t> rows(FecCodec::kMaxRepairs);
    std::iota(places.begin(), places.end(), std::uint8_t{0});
    std::iota(rows.begin(), rows.end(), std::uint8_t{0});
    for (std::size_t i = 0; i < losses; ++i) {
      std::swap(places[i], places[i + random.below(places.size() - i)]);
      std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
    }
    places.resize(losses);
    rows.resize(losses);
    expect_recovery(codec, sources, repairs, places, rows);
  }
}

TEST(FecCodec, ShortSymbolsCountAsPaddedWithZeros) {
  FecCodec codec;
  Random random(3);
  std::vector<Symbol> sources;
  for (const std::size_t size : {64U, 1536U, 128U, 640U, 64U}) {
    sources.push_back(random_symbols(1, size, random)[0]);
  }
  const auto repairs = encode(codec, sources, 3, 1536);
  expect_recovery(codec, sources, repairs, {0, 1, 4}, {0, 1, 2});
  expect_recovery(codec, sources, repairs, {2, 3}, {0, 2});
}

TEST(FecCodec, TheRepairOfOnePacketIsAsGoodAsACopy) {
  FecCodec codec;
  Random random(4);
  const auto sources = random_symbols(1, 64, random);
  const auto repairs = encode(codec, sources, FecCodec::kMaxRepairs, 64);
  for (std::uint8_t row = 0; row < FecCodec::kMaxRepairs; ++row) {
    expect_recovery(codec, sources, repairs, {0}, {row});
  }
}

TEST(FecPolicy, APathNotMeasuredYetGetsRepairsForAPercent) {
  const FecPolicy policy;
  EXPECT_FALSE(policy.is_clean());
  EXPECT_GT(policy.loss_bound(), 0.01);
  EXPECT_LT(policy.loss_bound(), 0.03);
  EXPECT_GE(policy.repairs_for(1), 1U);
  EXPECT_GE(policy.repairs_for(64), 6U);
  EXPECT_LE(policy.repairs_for(64), 10U);
}

TEST(FecPolicy, ACleanPathGetsNone) {
  FecPolicy policy;
  policy.on_report(500, 0);
  EXPECT_GT(policy.repairs_for(64), 0U) << "too early to tell";
  policy.on_report(600, 0);
  EXPECT_TRUE(policy.is_clean());
  EXPECT_EQ(policy.repairs_for(64), 0U);
  policy.on_report(10, 1);
  EXPECT_FALSE(policy.is_clean());
  EXPECT_GT(policy.repairs_for(64), 0U);
}

TEST(FecPolicy, RepairsFollowTheLossAndTheSizeOfTheBlock) {
  std::size_t before = 0;
  for (const std::uint64_t lost : {1U, 10U, 100U, 500U, 1000U, 3000U}) {
    FecPolicy policy;
    policy.on_report(10'000 - lost, lost);
    const double loss = static_cast<double>(lost) / 10'000;
    EXPECT_GT(policy.loss_bound(), loss);
    EXPECT_GE(policy.repairs_for(64), before);
    before = policy.repairs_for(64);
    EXPECT_GE(policy.repairs_for(64), policy.repairs_for(16));
    EXPECT_LE(policy.repairs_for(16), 10U);
    EXPECT_LE(policy.repairs_for(1), 2U);
  }
  EXPECT_EQ(before, FecCodec::kMaxRepairs) << "bounded under any loss";
}

// Against the definition: how often more is lost than is repaired.
TEST(FecPolicy, TheResidualIsWhatItPromises) {
  FecPolicy policy;
  policy.on_report(9'900, 100);
  Random random(5);
  const std::size_t repairs = policy.repairs_for(64);
  EXPECT_GE(repairs, 4U);
  EXPECT_LE(repairs, 6U);
  constexpr int kBlocks = 200'000;
  int failures = 0;
  for (int i = 0; i < kBlocks; ++i) {
    std::size_t lost = 0;
    for (std::size_t n = 0; n < 64 + repairs; ++n) lost += random.chance(0.01) ? 1 : 0;
    failures += lost > repairs ? 1 : 0;
  }
  EXPECT_LE(failures, static_cast<int>(kBlocks * FecPolicy::kResidual));
}

TEST(FecPolicy, OldLossesAreForgotten) {
  FecPolicy policy;
  policy.on_report(900, 100);
  const std::size_t then = policy.repairs_for(64);
  for (int i = 0; i < 30; ++i) policy.on_report(5'000, 0);
  EXPECT_LT(policy.repairs_for(64), then);
  for (int i = 0; i < 300; ++i) policy.on_report(5'000, 0);
  EXPECT_TRUE(policy.is_clean());
}

}  // namespace
}  // namespace satrelay::stp
