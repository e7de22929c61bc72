#include "relay/gateway/flows/hosts/awaited_reports.h"

#include <gtest/gtest.h>

namespace satrelay::gateway::awaited_reports_test {
namespace {

class AwaitedReportsTest : public ::testing::Test {
 protected:
  static AwaitedReports::StreamOf stream(std::uint64_t id, std::uint32_t lane = 0,
                                         std::uint32_t era = 0) {
    return {LaneId(lane), era, static_cast<stp::StreamId>(id)};
  }
  static FlowRecord record(std::uint64_t id) {
    FlowRecord made;
    made.id = id;
    return made;
  }

  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  AwaitedReports awaited_{HashKey{1, 2}, 3};
};

TEST_F(AwaitedReportsTest, AFlowIsFoundAndThenItsRecord) {
  EXPECT_FALSE(awaited_.expect(stream(4), 17, now_));
  const auto alive = awaited_.take(stream(4));
  EXPECT_EQ(alive.slot, 17U);
  EXPECT_FALSE(alive.record);
  EXPECT_FALSE(awaited_.take(stream(4)).slot) << "it waits no more";

  awaited_.expect(stream(4), 17, now_);
  EXPECT_FALSE(awaited_.keep(stream(4), record(7), now_));
  const auto over = awaited_.take(stream(4));
  EXPECT_FALSE(over.slot) << "the slot may be another's";
  ASSERT_TRUE(over.record);
  EXPECT_EQ(over.record->id, 7U);
  EXPECT_EQ(awaited_.next_expiry(), Instant::never());
}

TEST_F(AwaitedReportsTest, TheSameIdOfAnotherSessionOrTimeIsAnother) {
  awaited_.keep(stream(4), record(7), now_);
  EXPECT_FALSE(awaited_.take(stream(4, 1)).record);
  EXPECT_FALSE(awaited_.take(stream(4, 0, 1)).record);
  EXPECT_TRUE(awaited_.take(stream(4)).record);
}

TEST_F(AwaitedReportsTest, NothingWaitsForEver) {
  awaited_.expect(stream(2), 1, now_);
  awaited_.keep(stream(4), record(7), now_);
  const Instant due = now_ + AwaitedReports::kPatience;
  EXPECT_EQ(awaited_.next_expiry(), due);
  EXPECT_FALSE(awaited_.take_expired(due - Duration::nanoseconds(1)).more);
  const auto first = awaited_.take_expired(due);
  EXPECT_TRUE(first.more);
  EXPECT_FALSE(first.record) << "the flow goes on";
  EXPECT_EQ(awaited_.take_expired(due).record->id, 7U);
  EXPECT_FALSE(awaited_.take_expired(due).more);
}

TEST_F(AwaitedReportsTest, TheEndOfAFlowBeginsItsTimeAnew) {
  awaited_.expect(stream(2), 1, now_);
  awaited_.keep(stream(4), record(7), now_);
  now_ += Duration::seconds(1);
  awaited_.keep(stream(2), record(8), now_);
  EXPECT_EQ(awaited_.take_expired(now_ + AwaitedReports::kPatience).record->id, 7U);
}

TEST_F(AwaitedReportsTest, TheOldestGivesWay) {
  awaited_.keep(stream(2), record(2), now_);
  awaited_.keep(stream(4), record(4), now_);
  awaited_.keep(stream(6), record(6), now_);
  const auto given_up = awaited_.keep(stream(8), record(8), now_);
  ASSERT_TRUE(given_up);
  EXPECT_EQ(given_up->id, 2U);
  EXPECT_FALSE(awaited_.take(stream(2)).record);
}

TEST_F(AwaitedReportsTest, ALaterRecordOfAStreamDoesNotSwallowTheEarlier) {
  awaited_.keep(stream(2), record(2), now_);
  const auto given_up = awaited_.keep(stream(2), record(3), now_);
  ASSERT_TRUE(given_up);
  EXPECT_EQ(given_up->id, 2U);
  EXPECT_EQ(awaited_.take(stream(2)).record->id, 3U);
}

TEST_F(AwaitedReportsTest, AllRecordsCanBeHadAtOnce) {
  awaited_.keep(stream(2), record(2), now_);
  awaited_.expect(stream(4), 9, now_);
  awaited_.keep(stream(6), record(6), now_);
  EXPECT_EQ(awaited_.take_any()->id, 2U);
  EXPECT_EQ(awaited_.take_any()->id, 6U);
  EXPECT_FALSE(awaited_.take_any());
}

}  // namespace
}  // namespace satrelay::gateway::awaited_reports_test
