#include "pep/base/attention.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace satrelay::attention_test {
namespace {

Instant at(std::int64_t milliseconds) { return Instant() + Duration::milliseconds(milliseconds); }

std::vector<std::size_t> awake(const Attention& attention) {
  std::vector<std::size_t> list;
  attention.for_each([&](std::size_t i) { list.push_back(i); });
  return list;
}

TEST(Attention, AllAreAwakeUntilTheyRest) {
  Attention attention(130);
  EXPECT_EQ(awake(attention).size(), 130U);
  for (std::size_t i = 0; i < 130; ++i) attention.rest(i, Instant::never());
  EXPECT_EQ(awake(attention), std::vector<std::size_t>());
  EXPECT_EQ(attention.from(0), std::nullopt);
  EXPECT_TRUE(attention.next_deadline().is_never());
  attention.wake_all();
  EXPECT_EQ(awake(attention).size(), 130U);
}

TEST(Attention, WakesThoseThatAreCalled) {
  Attention attention(130);
  const Attention::Bell bell = attention.bell(129);
  for (std::size_t i = 0; i < 130; ++i) attention.rest(i, Instant::never());
  attention.wake(63);
  attention.wake(64);
  bell.ring();
  EXPECT_EQ(awake(attention), (std::vector<std::size_t>{63, 64, 129}));
  EXPECT_EQ(attention.awake(), 3U);
  EXPECT_EQ(attention.from(64), 64U);
  EXPECT_EQ(attention.from(65), 129U);
  EXPECT_EQ(attention.from(130), std::nullopt);
  EXPECT_TRUE(attention.is_awake(63));
  EXPECT_FALSE(attention.is_awake(62));
  Attention::Bell().ring();  // of nobody
}

TEST(Attention, WakesThoseWhoseTimeHasCome) {
  Attention attention(3);
  attention.rest(0, at(30));
  attention.rest(1, at(10));
  attention.rest(2, at(20));
  EXPECT_EQ(attention.next_deadline(), at(10));
  attention.wake_due(at(9));
  EXPECT_EQ(awake(attention), std::vector<std::size_t>());
  attention.wake_due(at(20));
  EXPECT_EQ(awake(attention), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(attention.next_deadline(), at(30));
  attention.rest(1, at(40));
  attention.wake_due(at(30));
  EXPECT_EQ(awake(attention), (std::vector<std::size_t>{0, 2}));
}

TEST(Attention, OfNobodyHasNothingToDo) {
  Attention attention(0);
  EXPECT_EQ(attention.from(0), std::nullopt);
  attention.wake_due(at(1));
}

}  // namespace
}  // namespace satrelay::attention_test
