#include "pep/base/containers/ready_set.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace satrelay::ready_set_test {
namespace {

using Member = TypedId<struct MemberKind>;
using Members = ReadySet<Member>;

Instant at(std::int64_t milliseconds) { return Instant() + Duration::milliseconds(milliseconds); }

std::vector<std::size_t> awake(const Members& members) {
  std::vector<std::size_t> list;
  members.for_each([&](Member id) { list.push_back(id.index()); });
  return list;
}

TEST(ReadySet, AllAreAwakeUntilTheyRest) {
  Members members(130);
  EXPECT_EQ(awake(members).size(), 130U);
  for (std::size_t i = 0; i < 130; ++i) members.rest(Member(i), Instant::never());
  EXPECT_EQ(awake(members), std::vector<std::size_t>());
  EXPECT_EQ(members.from(Member(0)), std::nullopt);
  EXPECT_TRUE(members.next_deadline().is_never());
  members.wake_all();
  EXPECT_EQ(awake(members).size(), 130U);
}

TEST(ReadySet, WakesThoseThatAreCalled) {
  Members members(130);
  const Members::Bell bell = members.bell(Member(129));
  for (std::size_t i = 0; i < 130; ++i) members.rest(Member(i), Instant::never());
  members.wake(Member(63));
  members.wake(Member(64));
  bell.ring();
  EXPECT_EQ(awake(members), (std::vector<std::size_t>{63, 64, 129}));
  EXPECT_EQ(members.awake(), 3U);
  EXPECT_EQ(members.from(Member(64)), Member(64));
  EXPECT_EQ(members.from(Member(65)), Member(129));
  EXPECT_EQ(members.from(Member(130)), std::nullopt);
  EXPECT_TRUE(members.is_awake(Member(63)));
  EXPECT_FALSE(members.is_awake(Member(62)));
  Members::Bell().ring();  // bound to no member: no effect
}

TEST(ReadySet, WakesThoseWhoseTimeHasCome) {
  Members members(3);
  members.rest(Member(0), at(30));
  members.rest(Member(1), at(10));
  members.rest(Member(2), at(20));
  EXPECT_EQ(members.next_deadline(), at(10));
  members.wake_due(at(9));
  EXPECT_EQ(awake(members), std::vector<std::size_t>());
  members.wake_due(at(20));
  EXPECT_EQ(awake(members), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(members.next_deadline(), at(30));
  members.rest(Member(1), at(40));
  members.wake_due(at(30));
  EXPECT_EQ(awake(members), (std::vector<std::size_t>{0, 2}));
}

TEST(ReadySet, VisitsInTurnUntilTheVisitorHasEnough) {
  Members members(130);
  members.rest(Member(64), Instant::never());
  std::vector<std::size_t> visited;
  members.for_each_from(Member(128), [&](Member id) {
    visited.push_back(id.index());
    return visited.size() < 5;
  });
  EXPECT_EQ(visited, (std::vector<std::size_t>{128, 129, 0, 1, 2}));
  visited.clear();
  members.for_each_from(Member(63), [&](Member id) {
    visited.push_back(id.index());
    return true;
  });
  EXPECT_EQ(visited.size(), 129U);
  EXPECT_EQ(visited[1], 65U);
  EXPECT_EQ(visited.back(), 62U);
}

TEST(ReadySet, OfNobodyHasNothingToDo) {
  Members members(0);
  EXPECT_EQ(members.from(Member(0)), std::nullopt);
  members.wake_due(at(1));
}

}  // namespace
}  // namespace satrelay::ready_set_test
