// Bridged frames that wait: which flow's frame leaves first, and which frames find room.
#include "relay/gateway/uplink/held_frames.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <utility>

#include "pep/base/random.h"
#include "pep/schedule/fair_tags.h"

namespace satrelay::gateway::held_frames_test {
namespace {

constexpr std::uint16_t kLong = 1'400;
// No frame is late.
constexpr HeldFrames::Terms kPatient{
    .law = {.target = Duration::seconds(100), .interval = Duration::seconds(100)},
    .most = Duration::seconds(100),
    .few = ByteCount(0)};
constexpr HeldFrames::Terms kUsual{
    .law = {.target = Duration::milliseconds(100), .interval = Duration::seconds(2)},
    .most = Duration::seconds(1),
    .few = ByteCount(4 * 1'538)};

class HeldFramesTest : public ::testing::Test {
 protected:
  using Whose = std::pair<std::uint64_t, std::uint64_t>;  // host and flow

  HeldFramesTest() { held_.share_with(shares_); }
  bool push(std::uint64_t host, std::uint64_t flow, std::uint16_t bytes = kLong,
            schedule::ClassId id = 0) {
    const auto slot = held_.push({id, host, flow}, bytes, now_);
    throw_away();
    if (!slot) return false;
    EXPECT_TRUE(kept_.emplace(*slot, Whose(host, flow)).second) << "a slot was taken";
    return true;
  }
  // Host and flow of the next frame.
  Whose pop(schedule::ClassId id = 0) {
    const auto frame = held_.pop(id, terms_, now_);
    throw_away();
    if (!frame) return {};
    lead_ = frame->lead;
    const auto found = kept_.find(frame->slot);
    EXPECT_NE(found, kept_.end());
    const auto whose = found->second;
    kept_.erase(found);
    return whose;
  }
  void throw_away() {
    while (const auto dropped = held_.take_dropped()) {
      const auto found = kept_.find(dropped->slot);
      ASSERT_NE(found, kept_.end());
      ++(dropped->cause == HeldFrames::Cause::kLate ? late_ : crowded_)[found->second];
      kept_.erase(found);
    }
  }
  // A flow that sends no less than it gets. `queued` of its frames wait.
  void flood(std::uint64_t host, std::uint64_t flow, int queued = 20) {
    for (int i = 0; i < queued; ++i) push(host, flow);
  }

  Instant now_ = Instant::from_nanoseconds(1);
  HeldFrames::Terms terms_ = kPatient;
  schedule::HostShares shares_{1'000};
  HeldFrames held_{256};
  std::map<HeldFrames::Slot, Whose> kept_;
  std::map<Whose, int> crowded_, late_;  // dropped
  std::uint64_t lead_ = 0;               // of the last frame that left
};

TEST_F(HeldFramesTest, AFlowKeepsItsOrder) {
  std::deque<HeldFrames::Slot> slots;
  for (int i = 0; i < 5; ++i) slots.push_back(*held_.push({0, 1, 1}, kLong, now_));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(held_.pop(0, kPatient, now_)->slot, slots[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(held_.frames(), 0U);
  EXPECT_EQ(held_.classes(), 0U);
}

TEST_F(HeldFramesTest, AHostThatWaitsElsewhereTooHasHalfATurn) {
  schedule::HostShare* const elsewhere = shares_.join(0, 1);
  ++elsewhere->places;
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE(push(1, 11, 1'000));
    ASSERT_TRUE(push(2, 21, 1'000));
  }
  EXPECT_EQ(elsewhere->places, 2U);
  std::map<std::uint64_t, int> left;
  for (int i = 0; i < 9; ++i) ++left[pop().first];
  EXPECT_NEAR(left[1], 3, 1);
  EXPECT_NEAR(left[2], 6, 1);
  while (held_.frames() > 0) pop();
  EXPECT_EQ(elsewhere->places, 1U);
  shares_.leave(elsewhere);
}

TEST_F(HeldFramesTest, HostsTakeTurnsAndSoDoTheFlowsOfAHost) {
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(push(1, 11));
    ASSERT_TRUE(push(2, 21));
    ASSERT_TRUE(push(2, 22));
  }
  EXPECT_EQ(held_.hosts(0), 2U);
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> left;
  for (int i = 0; i < 12; ++i) ++left[pop()];
  EXPECT_NEAR((left[{1, 11}]), 6, 1);
  EXPECT_NEAR((left[{2, 21}]), 3, 1);
  EXPECT_NEAR((left[{2, 22}]), 3, 1);
}

// --- what goes first ---------------------------------------------------------------------------

// Speech beside bulk of other hosts and of its own host.
TEST_F(HeldFramesTest, WhoSendsLittleWaitsForNobody) {
  flood(1, 11);
  flood(2, 21);
  for (int i = 0; i < 10; ++i) pop();
  for (int round = 0; round < 20; ++round) {
    // Flows that send much have their turns in between.
    for (int i = 0; i < 4; ++i) {
      const Whose whose = pop();
      push(whose.first, whose.second);
    }
    ASSERT_TRUE(push(3, 31, 200));
    ASSERT_TRUE(push(1, 12, 200));
    EXPECT_EQ(pop(), Whose(3, 31));
    EXPECT_EQ(pop(), Whose(1, 12)) << "its host is ahead of its clock by less than some frames";
  }
}

// In FQ-CoDel, new flows go first. That would not help a flow that comes back before the others
// have had a round.
TEST_F(HeldFramesTest, WhoSendsLittleGoesFirstHoweverLongTheRoundIs) {
  for (std::uint64_t host = 100; host < 120; ++host) flood(host, 1, 4);
  for (int i = 0; i < 80; ++i) {
    const Whose whose = pop();
    push(whose.first, whose.second);
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(push(3, 31, 60)) << i;
    EXPECT_EQ(pop(), Whose(3, 31)) << i;
    const Whose whose = pop();
    push(whose.first, whose.second);
  }
}

// The queue of this flow is empty again and again. Still, it gets no more than the other.
TEST_F(HeldFramesTest, NobodyGetsMoreByPausing) {
  flood(1, 11);
  for (int i = 0; i < 20; ++i) {
    pop();
    push(1, 11);
  }
  int of_the_other = 0;
  for (int i = 0; i < 400; ++i) {
    if (i % 2 == 0) push(2, 21);
    const Whose whose = pop();
    of_the_other += whose.first == 2 ? 1 : 0;
    if (whose.first == 1) push(1, 11);
  }
  EXPECT_NEAR(of_the_other, 200, 8);
  EXPECT_LE(crowded_.size(), 0U);
}

TEST_F(HeldFramesTest, NewFlowsWithoutEndGetTheirHostNoMore) {
  flood(1, 11);
  std::uint64_t flow = 1'000;
  std::map<std::uint64_t, int> left;
  for (int i = 0; i < 800; ++i) {
    push(2, ++flow);
    push(2, ++flow);
    const Whose whose = pop();
    ++left[whose.first];
    if (whose.first == 1) push(1, 11);
  }
  EXPECT_NEAR(left[1], 400, 12);
}

TEST_F(HeldFramesTest, NewFlowsWithoutEndLeaveTheOthersOfTheirHostAnEighth) {
  flood(1, 11);
  std::uint64_t flow = 1'000;
  int of_the_old = 0;
  for (int i = 0; i < 800; ++i) {
    push(1, ++flow);
    if (pop().second != 11) continue;
    ++of_the_old;
    push(1, 11);
  }
  EXPECT_GE(of_the_old, 95);
}

TEST_F(HeldFramesTest, NewHostsWithoutEndLeaveTheOthersAnEighth) {
  flood(1, 11);
  std::uint64_t host = 1'000;
  int of_the_old = 0;
  for (int i = 0; i < 800; ++i) {
    push(++host, 1);
    if (pop().first != 1) continue;
    ++of_the_old;
    push(1, 11);
  }
  EXPECT_GE(of_the_old, 95);
}

// A frame of one octet costs what the link counts for it.
TEST_F(HeldFramesTest, SmallFramesPayForTheirHeaders) {
  terms_.overhead = 38;
  std::map<std::uint64_t, int> left;
  for (int i = 0; i < 40; ++i) {
    push(1, 11, 62);
    push(2, 21, 1'462);
  }
  for (int i = 0; i < 4'000; ++i) {
    const std::uint64_t host = pop().first;
    ++left[host];
    host == 1 ? push(1, 11, 62) : push(2, 21, 1'462);
  }
  EXPECT_NEAR(left[1] / left[2], 15, 1);
}

// Other traffic of the class is served elsewhere, and pass() tells how much.
TEST_F(HeldFramesTest, TheLeadIsWhatAHostHasHadMoreThanTheClock) {
  flood(1, 11);
  constexpr std::uint64_t kUnit = schedule::FairTags::kUnit;
  EXPECT_EQ(held_.lead(0), 0U) << "it is new";
  for (int i = 0; i < 8; ++i) pop();
  const std::uint64_t lead = held_.lead(0);
  EXPECT_GE(lead, kLong * kUnit);
  held_.pass(0, lead / 2);
  EXPECT_EQ(held_.lead(0), lead - lead / 2);
  held_.pass(0, lead);
  EXPECT_EQ(held_.lead(0), 0U) << "it is owed nothing";
  push(2, 21);
  EXPECT_EQ(held_.lead(0), 0U);
}

TEST_F(HeldFramesTest, WhatNobodyWaitedForIsForgiven) {
  flood(1, 11);
  for (int i = 0; i < 10; ++i) pop();
  EXPECT_GT(held_.lead(0), 0U);
  held_.forgive(0);
  EXPECT_EQ(held_.lead(0), 0U);
}

// --- what is dropped ---------------------------------------------------------------------------

// Each millisecond one frame leaves and one arrives. So the queue stands.
TEST_F(HeldFramesTest, AQueueThatStandsShrinksByTheLaw) {
  terms_ = kUsual;
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(push(1, 11));
  for (int ms = 0; ms < 2'000; ++ms) {
    now_ += Duration::milliseconds(1);
    pop();
    push(1, 11);
  }
  EXPECT_TRUE(late_.empty()) << "for an interval it may";
  for (int ms = 0; ms < 3'000; ++ms) {
    now_ += Duration::milliseconds(1);
    pop();
    push(1, 11);
  }
  EXPECT_GE((late_[{1, 11}]), 2);
  EXPECT_LE((late_[{1, 11}]), 5);
}

TEST_F(HeldFramesTest, OfAFlowBesideItNothingIsDropped) {
  terms_ = kUsual;
  for (int ms = 0; ms < 8'000; ++ms) {
    now_ += Duration::milliseconds(1);
    while (held_.frames(0) < 150) push(1, 11);
    if (ms % 20 == 0) {
      ASSERT_TRUE(push(2, 21, 60));
    }
    pop();
  }
  EXPECT_GT((late_[{1, 11}]), 2);
  EXPECT_EQ((late_[{2, 21}]), 0);
}

TEST_F(HeldFramesTest, NothingWaitsLongerThanAllowed) {
  terms_ = kUsual;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(push(1, 11));
  now_ += Duration::milliseconds(1'001);
  std::size_t left = 0;
  while (held_.frames(0) > 0) left += pop() == Whose() ? 0U : 1U;
  EXPECT_LE(left, 10U);
  EXPECT_GE(left, 4U) << "a few may";
  EXPECT_EQ(static_cast<std::size_t>(late_[Whose(1, 11)]) + left, 100U);
}

// --- which frames find room --------------------------------------------------------------------

TEST_F(HeldFramesTest, TheFattestLosesWhenThereIsNoRoom) {
  while (crowded_.empty()) ASSERT_TRUE(push(1, 11));
  const std::size_t crowd = held_.frames(0);
  EXPECT_GE(crowd, 256U * 2 / 3);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(push(2, 21, 60));
  EXPECT_EQ(held_.frames(0), crowd);
  EXPECT_EQ((crowded_[{2, 21}]), 0);
  EXPECT_GE((crowded_[{1, 11}]), 20);
}

TEST_F(HeldFramesTest, TheFattestFlowOfTheFattestHostLoses) {
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(push(1, 12, 60));
  while (crowded_.empty()) ASSERT_TRUE(push(1, 11));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(push(1, 12, 60));
  EXPECT_EQ((crowded_[{1, 12}]), 0);
}

// Each frame is of another host, and no host gives way to a host that has as much. In any case,
// slots are left for other classes.
TEST_F(HeldFramesTest, NoClassTakesAllSlots) {
  std::uint64_t host = 0;
  while (push(++host, 1, 60, 2)) continue;
  EXPECT_TRUE(crowded_.empty());
  EXPECT_LE(held_.frames(2), 256U * 2 / 3 + 1);
  EXPECT_TRUE(push(1, 1, 60, 3));
  EXPECT_EQ(held_.classes(), schedule::class_bit(2) | schedule::class_bit(3));
  pop(3);
  EXPECT_EQ(held_.classes(), schedule::class_bit(2));
}

// All frames that go in come out, each flow in order, whatever happens in between. An endless
// series of new hosts fills no table for good.
TEST_F(HeldFramesTest, EverythingComesOut) {
  Random random(3);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::deque<HeldFrames::Slot>> waiting;
  std::map<HeldFrames::Slot, std::pair<std::uint64_t, std::uint64_t>> owner;
  std::size_t refused = 0;
  const auto take = [&] {
    const auto slot = held_.pop(5, kPatient, now_)->slot;
    auto& flow = waiting[owner.at(slot)];
    ASSERT_EQ(flow.front(), slot);
    flow.pop_front();
    owner.erase(slot);
  };
  for (int i = 0; i < 200'000; ++i) {
    if (random.chance(0.5)) {
      const bool stranger = random.chance(0.5);
      const std::pair<std::uint64_t, std::uint64_t> whose{
          stranger ? random.next() : random.below(5), random.below(3)};
      const auto bytes = static_cast<std::uint16_t>(60 + random.below(1'440));
      const auto slot = held_.push({5, whose.first, whose.second + whose.first * 3}, bytes, now_);
      while (const auto dropped = held_.take_dropped()) {
        auto& flow = waiting[owner.at(dropped->slot)];
        ASSERT_EQ(flow.front(), dropped->slot) << "of a flow the oldest";
        flow.pop_front();
        owner.erase(dropped->slot);
        ++refused;
      }
      if (slot) {
        waiting[whose].push_back(*slot);
        owner[*slot] = whose;
      } else {
        ++refused;
      }
    } else if (held_.frames(5) > 0) {
      take();
    }
  }
  EXPECT_LT(refused, 100'000U);
  while (held_.frames(5) > 0) take();
  EXPECT_TRUE(owner.empty());
  EXPECT_EQ(held_.bytes(5), 0U);
  EXPECT_EQ(held_.hosts(5), 0U);
  EXPECT_TRUE(push(1, 1));
}

}  // namespace
}  // namespace satrelay::gateway::held_frames_test
