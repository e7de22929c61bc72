// How much the peer lets us send, on the lane and on a stream.
#include "pep/stp/streams/credit/send_credit.h"

#include <gtest/gtest.h>

#include <vector>

namespace satrelay::stp::send_credit_test {
namespace {

class SendCreditTest : public ::testing::Test {
 protected:
  SendCreditTest() : memory_(8 * 4096), arena_(memory_, 4096), stream_(arena_) {
    credit_.start(16'000, 4'000);
    credit_.begin_share(stream_);
  }
  void send(std::size_t bytes) {
    std::vector<std::byte> payload(bytes);
    ASSERT_EQ(stream_.send.write(payload, 1 << 20, 0), bytes);
    stream_.send.take(stream_.send.sent(), payload);
    credit_.on_sent(bytes);
    credit_.keep_share(stream_, true);
  }
  std::vector<std::byte> memory_;
  Arena arena_;
  Stream stream_;
  SendCredit credit_;
};

TEST_F(SendCreditTest, TheSmallerOfTheLanesAndTheStreamsCounts) {
  EXPECT_EQ(credit_.own(stream_), 4'000U);
  EXPECT_GT(credit_.of_lane(stream_), 4'000U);
  EXPECT_EQ(credit_.of(stream_), 4'000U);
  EXPECT_TRUE(credit_.accept({1, 50'000}));
  EXPECT_EQ(credit_.of(stream_), credit_.of_lane(stream_));
  EXPECT_LT(credit_.of(stream_), 16'000U) << "some is kept for others";
}

TEST_F(SendCreditTest, AStreamKeepsItsShareWhatOthersUse) {
  credit_.on_sent(16'000 - LaneShares::kShare);
  EXPECT_FALSE(credit_.is_beyond_shares());
  EXPECT_FALSE(credit_.has_share()) << "for one more";
  EXPECT_EQ(credit_.of(stream_), LaneShares::kShare);
  send(LaneShares::kShare);
  EXPECT_FALSE(credit_.any());
  credit_.raise_lane(16'000 + LaneShares::kShare);
  EXPECT_TRUE(credit_.any());
  EXPECT_EQ(credit_.of(stream_), 0U) << "its share is used up";
  // The reader of the stream reads.
  SendCredit::raise(stream_, 8'000);
  credit_.keep_share(stream_, true);
  EXPECT_EQ(credit_.of(stream_), LaneShares::kShare);
  credit_.end_share(stream_);
  EXPECT_EQ(credit_.reserved(), 0U);
}

TEST_F(SendCreditTest, TheLanesCreditIsNeverTakenBack) {
  credit_.raise_lane(1);
  credit_.on_sent(15'999);
  EXPECT_TRUE(credit_.any());
}

}  // namespace
}  // namespace satrelay::stp::send_credit_test
