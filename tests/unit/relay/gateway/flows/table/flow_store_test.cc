// Slots, and how the flow in each of them is found.
#include "relay/gateway/flows/table/flow_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::flow_store_test {
namespace {

constexpr std::uint32_t kMost = 4;

class FlowStoreTest : public testing::Test {
 protected:
  static FlowKey key(std::uint16_t port) {
    return {ip_of("203.0.113.5"), ip_of("198.51.100.5"), port, 80, {}};
  }
  std::uint32_t add(std::uint16_t port) {
    return store_.add(std::make_unique<Flow>(key(port), std::make_shared<ActiveRule>(),
                                             Origin::kLan, tcp::Config(), arena_,
                                             tcp::Endpoint::Shared{&counters_, {}}, now_));
  }
  static Instant at(std::int64_t second) {
    return Instant::from_nanoseconds(second * 1'000'000'000);
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(64 * 1024);
  Arena arena_{memory_, 1024};
  tcp::Counters counters_;
  const Instant now_ = at(1);
  FlowStore store_{kMost, HashKey{1, 2}};
  WorkCount work_;
};

TEST_F(FlowStoreTest, FindsAFlowByItsKeyAndItsNumberUntilItIsRemoved) {
  const std::uint32_t one = add(1);
  const std::uint32_t other = add(2);
  EXPECT_EQ(store_.find(key(1)), one);
  EXPECT_EQ(store_.find(key(2)), other);
  EXPECT_EQ(store_.find(key(3)), kNoSlot);
  const std::uint64_t id = store_[one].beginning.id;
  EXPECT_NE(id, store_[other].beginning.id);
  EXPECT_EQ(store_.find(id, work_), one);
  store_.remove(one);
  EXPECT_FALSE(store_.contains(one));
  EXPECT_EQ(store_.find(key(1)), kNoSlot);
  EXPECT_EQ(store_.find(id, work_), kNoSlot);
  EXPECT_EQ(store_.find(key(2)), other);
}

TEST_F(FlowStoreTest, ANumberIsNeverGivenTwice) {
  const std::uint32_t slot = add(1);
  const std::uint64_t id = store_[slot].beginning.id;
  store_.remove(slot);
  EXPECT_EQ(add(1), slot);
  EXPECT_GT(store_[slot].beginning.id, id);
}

TEST_F(FlowStoreTest, HasAPlaceForEachOfTheMost) {
  for (std::uint16_t port = 0; port < kMost; ++port) {
    EXPECT_EQ(store_.free_slots(), kMost - port);
    add(port);
  }
  EXPECT_EQ(store_.free_slots(), 0U);
  EXPECT_EQ(store_.size(), kMost);
  std::vector<std::uint32_t> seen;
  for (std::uint32_t slot = store_.from(0); slot != kNoSlot; slot = store_.from(slot + 1)) {
    seen.push_back(slot);
  }
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(store_.nth(2), 2U);
}

TEST_F(FlowStoreTest, TheEarliestTimerComesFirstAndOnce) {
  const std::uint32_t one = add(1);
  const std::uint32_t other = add(2);
  store_.arm(one, at(20));
  store_.arm(other, at(10));
  EXPECT_EQ(store_.next_deadline(), at(10));
  EXPECT_FALSE(store_.take_due(at(9)));
  EXPECT_EQ(store_.take_due(at(20)), other);
  EXPECT_EQ(store_.take_due(at(20)), one);
  EXPECT_FALSE(store_.take_due(at(20)));
  EXPECT_TRUE(store_.next_deadline().is_never());
}

TEST_F(FlowStoreTest, ATimerMovesForwardOnly) {
  const std::uint32_t slot = add(1);
  store_.arm(slot, at(10));
  store_.arm(slot, at(30));
  EXPECT_EQ(store_.next_deadline(), at(10)) << "it only looks again";
  store_.arm(slot, at(5));
  EXPECT_EQ(store_.next_deadline(), at(5));
  store_.remove(slot);
  EXPECT_TRUE(store_.next_deadline().is_never());
}

TEST_F(FlowStoreTest, CountsWhatIsHalfOpenAndWhatIsOver) {
  const std::uint32_t one = add(1);
  const std::uint32_t other = add(2);
  EXPECT_EQ(store_.half_open(), 2U);
  store_.complete_handshake(store_[one]);
  store_.complete_handshake(store_[one]);
  EXPECT_EQ(store_.half_open(), 1U) << "once";
  store_.note_over(store_[one]);
  store_.note_over(store_[one]);
  EXPECT_EQ(store_.unfinished(), 1U);
  EXPECT_FALSE(store_.audit());
  store_.remove(one);
  store_.remove(other);
  EXPECT_EQ(store_.half_open(), 0U);
  EXPECT_EQ(store_.unfinished(), 0U);
  EXPECT_FALSE(store_.audit());
}

TEST_F(FlowStoreTest, AnAuditFindsAFlowThatWasCountedPastTheStore) {
  store_[add(1)].state.complete_handshake();
  EXPECT_EQ(store_.audit(), "half-open flows: account 1, counted 0");
}

TEST_F(FlowStoreTest, ALapVisitsEachFlowOnce) {
  add(1);
  const std::uint32_t gone = add(2);
  add(3);
  store_.remove(gone);
  EXPECT_FALSE(store_.scan_active());
  store_.begin_scan();
  std::vector<std::uint32_t> seen;
  while (store_.scan_active()) {
    const std::uint32_t slot = store_.step_scan();
    if (slot != kNoSlot) seen.push_back(slot);
  }
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 2}));
}

TEST_F(FlowStoreTest, ALapThatBeginsAgainGoesOnceRoundFromWhereItIs) {
  for (std::uint16_t port = 0; port < kMost; ++port) add(port);
  store_.begin_scan();
  EXPECT_EQ(store_.step_scan(), 0U);
  store_.begin_scan();
  std::vector<std::uint32_t> seen;
  while (store_.scan_active()) {
    const std::uint32_t slot = store_.step_scan();
    if (slot != kNoSlot) seen.push_back(slot);
  }
  EXPECT_EQ(seen.front(), 1U);
  EXPECT_EQ(seen.back(), 0U);
  EXPECT_EQ(seen.size(), kMost);
}

TEST(FlowRing, TakesEachFlowOnceAndInItsOrder) {
  FlowRing ring(3);
  EXPECT_TRUE(ring.empty());
  ring.add(2);
  ring.add(0);
  ring.add(2);
  EXPECT_EQ(ring.front(), 2U);
  ring.end_turn();
  EXPECT_EQ(ring.front(), 0U);
  ring.add(2);
  ring.end_turn();
  EXPECT_EQ(ring.front(), 2U);
  ring.end_turn();
  EXPECT_TRUE(ring.empty());
}

TEST(FlowRing, ATurnIsOverAfterSomeSegments) {
  FlowRing ring(2);
  ring.add(0);
  ring.add(1);
  for (std::uint32_t i = 0; i < FlowRing::kTurn; ++i) {
    EXPECT_FALSE(ring.turn_is_over());
    ring.count_segments(1);
  }
  EXPECT_TRUE(ring.turn_is_over());
  ring.end_turn();
  EXPECT_FALSE(ring.turn_is_over()) << "the next one's";
}

}  // namespace
}  // namespace satrelay::gateway::flow_store_test
