// Bridged frames that wait: whose leaves first, and who finds room.
#include "relay/gateway/uplink/held_frames.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <utility>

#include "pep/base/random.h"

namespace satrelay::gateway::held_frames_test {
namespace {

constexpr ByteCount kLimit = ByteCount(64'000);
constexpr std::uint16_t kLong = 1'400;

class HeldFramesTest : public ::testing::Test {
 protected:
  HeldFramesTest() { held_.share_with(shares_); }
  bool push(std::uint64_t host, std::uint64_t flow, std::uint16_t bytes = kLong,
            schedule::ClassId id = 0, ByteCount limit = kLimit) {
    const auto slot = held_.push({id, host, flow}, bytes, limit);
    if (!slot) return false;
    EXPECT_TRUE(kept_.emplace(*slot, std::pair(host, flow)).second) << "a slot was taken";
    return true;
  }
  // Host and flow of the next frame.
  std::pair<std::uint64_t, std::uint64_t> pop(schedule::ClassId id = 0) {
    const HeldFrames::Frame frame = held_.pop(id);
    const auto found = kept_.find(frame.slot);
    EXPECT_NE(found, kept_.end());
    const auto whose = found->second;
    kept_.erase(found);
    return whose;
  }

  schedule::HostShares shares_{1'000};
  HeldFrames held_{256};
  std::map<HeldFrames::Slot, std::pair<std::uint64_t, std::uint64_t>> kept_;
};

TEST_F(HeldFramesTest, AFlowKeepsItsOrder) {
  std::deque<HeldFrames::Slot> slots;
  for (int i = 0; i < 5; ++i) slots.push_back(*held_.push({0, 1, 1}, kLong, kLimit));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(held_.pop(0).slot, slots[static_cast<std::size_t>(i)]);
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

// Speech beside bulk, of other hosts and of its own.
TEST_F(HeldFramesTest, WhoSendsLittleDoesNotWaitForWhoSendsMuch) {
  for (int i = 0; i < 20; ++i) {
    push(1, 11);
    push(2, 21);
  }
  for (int i = 0; i < 10; ++i) pop();
  using Whose = std::pair<std::uint64_t, std::uint64_t>;
  for (int round = 0; round < 20; ++round) {
    // Those that send much have their turns in between.
    for (int i = 0; i < 4; ++i) {
      const Whose whose = pop();
      push(whose.first, whose.second);
    }
    ASSERT_TRUE(push(3, 31, 200));
    EXPECT_EQ(pop(), Whose(3, 31));
    ASSERT_TRUE(push(1, 12, 200));
    int waited = 0;
    for (Whose whose; (whose = pop()) != Whose(1, 12); ++waited) push(whose.first, whose.second);
    EXPECT_LE(waited, 2) << "its host has its turns";
  }
}

TEST_F(HeldFramesTest, OneAloneGetsHalfAndWhoComesLaterFindsRoom) {
  while (push(1, 11)) continue;
  EXPECT_NEAR(static_cast<double>(held_.bytes(0)), 64'000 / 2.0, kLong);
  while (push(2, 21)) continue;
  EXPECT_NEAR(static_cast<double>(held_.bytes(0)), 64'000 * 3 / 4.0, 2 * kLong);
  for (std::uint64_t host = 3; host < 12; ++host) EXPECT_TRUE(push(host, 1)) << host;
  EXPECT_LE(held_.bytes(0), kLimit.value());
}

TEST_F(HeldFramesTest, ANewFlowFindsRoomBesideTheOthersOfItsHost) {
  for (std::uint64_t flow = 1; flow < 5; ++flow) {
    while (push(1, flow)) continue;
  }
  EXPECT_TRUE(push(1, 9, 200));
  EXPECT_FALSE(push(1, 1));
}

TEST_F(HeldFramesTest, AFlowMayNotCrowdOutTheOthersOfItsHost) {
  while (push(1, 11, 200)) continue;
  const std::size_t crowd = held_.frames();
  pop();
  pop();
  EXPECT_TRUE(push(1, 12, 200));
  EXPECT_GT(crowd, 100U);
}

TEST_F(HeldFramesTest, ClassesHaveLimitsOfTheirOwn) {
  while (push(1, 11, kLong, 2, ByteCount(10'000))) continue;
  EXPECT_LE(held_.bytes(2), 10'000U);
  EXPECT_TRUE(push(1, 11, kLong, 3));
  EXPECT_EQ(held_.classes(), schedule::class_bit(2) | schedule::class_bit(3));
  pop(3);
  EXPECT_EQ(held_.classes(), schedule::class_bit(2));
}

// Every frame of another host: whoever is there, slots are left for other classes.
TEST_F(HeldFramesTest, NoClassTakesAllSlots) {
  std::uint64_t host = 0;
  while (push(++host, 1, 60, 2, ByteCount(1 << 20))) continue;
  EXPECT_LE(held_.frames(2), 256U * 2 / 3 + 1);
  EXPECT_TRUE(push(1, 1, 60, 3));
}

// What goes in comes out, each flow in order, whatever happens in between; and newcomers without
// end fill no table for good.
TEST_F(HeldFramesTest, EverythingComesOut) {
  Random random(3);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::deque<HeldFrames::Slot>> waiting;
  std::map<HeldFrames::Slot, std::pair<std::uint64_t, std::uint64_t>> owner;
  std::size_t refused = 0;
  const auto take = [&] {
    const auto slot = held_.pop(5).slot;
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
      if (const auto slot =
              held_.push({5, whose.first, whose.second + whose.first * 3}, bytes, kLimit)) {
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
