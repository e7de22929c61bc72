#include "pep/base/histogram.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace satrelay::histogram_test {
namespace {

using Buckets = std::vector<std::uint64_t>;

constexpr std::array<std::uint64_t, 3> kBounds = {10, 100, 1000};

Buckets buckets_of(const Histogram& histogram) {
  return {histogram.buckets().begin(), histogram.buckets().end()};
}

TEST(HistogramTest, ABoundIsTheLargestValueOfItsBucket) {
  Histogram histogram{kBounds};
  for (const std::uint64_t value : {0U, 10U, 11U, 100U, 1000U, 1001U}) histogram.add(value);
  EXPECT_EQ(buckets_of(histogram), Buckets({2, 2, 1, 1}));
  EXPECT_EQ(histogram.count(), 6U);
  EXPECT_EQ(histogram.sum(), 2122U);
}

TEST(HistogramTest, AValueMayBeAddedManyTimesAtOnce) {
  Histogram histogram{kBounds};
  histogram.add(20, 5);
  EXPECT_EQ(buckets_of(histogram), Buckets({0, 5, 0, 0}));
  EXPECT_EQ(histogram.sum(), 100U);
}

TEST(HistogramTest, IsEmptyAtFirst) {
  const Histogram histogram{kBounds};
  EXPECT_EQ(buckets_of(histogram), Buckets({0, 0, 0, 0}));
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.sum(), 0U);
}

TEST(HistogramTest, AddsUpWhatSeveralHaveCounted) {
  Histogram one{kBounds};
  Histogram other{kBounds};
  one.add(5);
  other.add(6);
  other.add(std::numeric_limits<std::uint32_t>::max());
  one += other;
  EXPECT_EQ(buckets_of(one), Buckets({2, 0, 0, 1}));
  EXPECT_EQ(one.sum(), std::uint64_t{11} + std::numeric_limits<std::uint32_t>::max());
}

TEST(HistogramTest, HasRoomForTheMostBoundsAndNoMore) {
  std::array<std::uint64_t, Histogram::kMostBounds + 1> bounds{};
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = i;
  Histogram histogram{std::span(bounds).first(Histogram::kMostBounds)};
  histogram.add(Histogram::kMostBounds);
  EXPECT_EQ(histogram.buckets().back(), 1U);
  EXPECT_EQ(histogram.buckets().size(), Histogram::kMostBounds + 1);
  EXPECT_DEATH(Histogram{bounds}, "");
}

TEST(HistogramTest, RefusesBoundsThatDoNotAscendAndSumsOfOtherBounds) {
  constexpr std::array<std::uint64_t, 2> kTwice = {10, 10};
  EXPECT_DEATH(Histogram{kTwice}, "");
  constexpr std::array<std::uint64_t, 3> kOthers = {10, 100, 1001};
  Histogram histogram{kBounds};
  EXPECT_DEATH(histogram += Histogram{kOthers}, "");
}

}  // namespace
}  // namespace satrelay::histogram_test
