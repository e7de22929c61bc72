#include "relay/satperf/send_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace satrelay::satperf::send_batch_test {
namespace {

using Grouping = SendBatch::Grouping;

void add(SendBatch& batch, std::size_t size, int mark, Grouping grouping = Grouping::kOn) {
  const MutableBytes room = batch.room(size);
  ASSERT_EQ(room.size(), size);
  std::ranges::fill(room, static_cast<std::byte>(mark));
  batch.add(size, grouping);
}

std::vector<std::size_t> counts(const SendBatch& batch) {
  std::vector<std::size_t> result;
  for (const SendBatch::Group& group : batch.groups()) result.push_back(group.count);
  return result;
}

TEST(SendBatch, AGroupIsOfOneTrafficClass) {
  SendBatch batch(100'000);
  for (const int traffic_class : {0, 0, 12, 12, 12, 0}) {
    batch.room(1000);
    batch.add(1000, Grouping::kOn, static_cast<std::uint8_t>(traffic_class));
  }
  EXPECT_EQ(counts(batch), (std::vector<std::size_t>{2, 3, 1}));
  EXPECT_EQ(batch.groups()[1].traffic_class, 12);
  batch.split();
  EXPECT_EQ(batch.groups()[4].traffic_class, 12);
  EXPECT_EQ(batch.groups()[5].traffic_class, 0);
}

TEST(SendBatch, GroupsEqualSizesAndOneShorterAtTheEnd) {
  SendBatch batch(100'000);
  for (int i = 0; i < 3; ++i) add(batch, 1000, i);
  add(batch, 400, 3);
  add(batch, 400, 4);
  add(batch, 1000, 5);
  EXPECT_EQ(counts(batch), (std::vector<std::size_t>{4, 1, 1}));
  EXPECT_EQ(batch.groups()[0].segment, 1000U);
  EXPECT_EQ(batch.groups()[0].bytes, 3400U);
  const ConstBytes bytes = batch.bytes(batch.groups()[0]);
  EXPECT_EQ(bytes[2999], std::byte{2});
  EXPECT_EQ(bytes[3000], std::byte{3});
  EXPECT_EQ(batch.bytes(batch.groups()[2])[0], std::byte{5});
}

TEST(SendBatch, StaysWithinTheKernelsLimits) {
  SendBatch batch(1'000'000);
  for (std::size_t i = 0; i < SendBatch::kMostSegments + 1; ++i) add(batch, 500, 0);
  EXPECT_EQ(counts(batch), (std::vector<std::size_t>{64, 1}));
  batch.remove(2);
  for (int i = 0; i < 8; ++i) add(batch, 9000, 0);
  EXPECT_EQ(counts(batch), (std::vector<std::size_t>{7, 1})) << "65,535 bytes with headers";
}

TEST(SendBatch, WithoutGroupingEachLeavesByItself) {
  SendBatch batch(10'000);
  for (int i = 0; i < 3; ++i) add(batch, 1000, i, Grouping::kOff);
  EXPECT_EQ(counts(batch), (std::vector<std::size_t>{1, 1, 1}));
}

TEST(SendBatch, SplitKeepsWhatWasNotSent) {
  SendBatch batch(100'000);
  add(batch, 100, 0);
  for (int i = 1; i < 4; ++i) add(batch, 1000, i);
  add(batch, 300, 4);
  ASSERT_EQ(counts(batch), (std::vector<std::size_t>{1, 4}));
  batch.remove(1);
  batch.split();
  ASSERT_EQ(counts(batch), (std::vector<std::size_t>{1, 1, 1, 1}));
  EXPECT_EQ(batch.bytes(batch.groups()[0])[0], std::byte{1});
  EXPECT_EQ(batch.groups()[3].bytes, 300U);
  EXPECT_EQ(batch.bytes(batch.groups()[3])[0], std::byte{4});
}

TEST(SendBatch, IsFullAndThenAnew) {
  SendBatch batch(2500);
  add(batch, 1000, 0);
  add(batch, 1000, 0);
  EXPECT_TRUE(batch.room(1000).empty());
  EXPECT_FALSE(batch.empty());
  batch.remove(1);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.room(2500).size(), 2500U);
}

}  // namespace
}  // namespace satrelay::satperf::send_batch_test
