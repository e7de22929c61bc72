#include "pep/base/containers/ready_set.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace satrelay::ready_set_test {
namespace {

Instant at(std::int64_t milliseconds) { return Instant() + Duration::milliseconds(milliseconds); }

std::vector<std::size_t> awake(const ReadySet& ready_set) {
  std::vector<std::size_t> list;
  ready_set.for_each([&](std::size_t i) { list.push_back(i); });
  return list;
}

TEST(ReadySet, AllAreAwakeUntilTheyRest) {
  ReadySet ready_set(130);
  EXPECT_EQ(awake(ready_set).size(), 130U);
  for (std::size_t i = 0; i < 130; ++i) ready_set.rest(i, Instant::never());
  EXPECT_EQ(awake(ready_set), std::vector<std::size_t>());
  EXPECT_EQ(ready_set.from(0), std::nullopt);
  EXPECT_TRUE(ready_set.next_deadline().is_never());
  ready_set.wake_all();
  EXPECT_EQ(awake(ready_set).size(), 130U);
}

TEST(ReadySet, WakesThoseThatAreCalled) {
  ReadySet ready_set(130);
  const ReadySet::Bell bell = ready_set.bell(129);
  for (std::size_t i = 0; i < 130; ++i) ready_set.rest(i, Instant::never());
  ready_set.wake(63);
  ready_set.wake(64);
  bell.ring();
  EXPECT_EQ(awake(ready_set), (std::vector<std::size_t>{63, 64, 129}));
  EXPECT_EQ(ready_set.awake(), 3U);
  EXPECT_EQ(ready_set.from(64), 64U);
  EXPECT_EQ(ready_set.from(65), 129U);
  EXPECT_EQ(ready_set.from(130), std::nullopt);
  EXPECT_TRUE(ready_set.is_awake(63));
  EXPECT_FALSE(ready_set.is_awake(62));
  ReadySet::Bell().ring();  // bound to no member: no effect
}

TEST(ReadySet, WakesThoseWhoseTimeHasCome) {
  ReadySet ready_set(3);
  ready_set.rest(0, at(30));
  ready_set.rest(1, at(10));
  ready_set.rest(2, at(20));
  EXPECT_EQ(ready_set.next_deadline(), at(10));
  ready_set.wake_due(at(9));
  EXPECT_EQ(awake(ready_set), std::vector<std::size_t>());
  ready_set.wake_due(at(20));
  EXPECT_EQ(awake(ready_set), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(ready_set.next_deadline(), at(30));
  ready_set.rest(1, at(40));
  ready_set.wake_due(at(30));
  EXPECT_EQ(awake(ready_set), (std::vector<std::size_t>{0, 2}));
}

TEST(ReadySet, OfNobodyHasNothingToDo) {
  ReadySet ready_set(0);
  EXPECT_EQ(ready_set.from(0), std::nullopt);
  ready_set.wake_due(at(1));
}

}  // namespace
}  // namespace satrelay::ready_set_test
