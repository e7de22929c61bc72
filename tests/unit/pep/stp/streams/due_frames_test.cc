#include "pep/stp/streams/due_frames.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "pep/base/arena.h"

namespace satrelay::stp::due_frames_test {
namespace {

class DueFramesTest : public ::testing::Test {
 protected:
  DueFramesTest() : memory_(16 * 4096), arena_(memory_, 4096), stream_(arena_) {}
  std::vector<std::byte> memory_;
  Arena arena_;
  Stream stream_;
  DueFrames due_;
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
};

TEST_F(DueFramesTest, AConfirmWaitsForTheOpenOfItsStream) {
  due_.owe_open(stream_);
  due_.confirm(stream_, {.answered = true}, now_);
  EXPECT_TRUE(due_.confirms().empty());
  EXPECT_FALSE(due_.confirmations_due(now_));
  due_.on_open_left(stream_);
  EXPECT_TRUE(due_.opens().empty());
  EXPECT_EQ(due_.confirms().front(), &stream_);

  due_.owe_open(stream_);  // it was lost
  EXPECT_TRUE(due_.confirms().empty());
  due_.on_open_left(stream_);
  EXPECT_EQ(due_.confirms().front(), &stream_);
}

TEST_F(DueFramesTest, OnlyStatesThatAHostAwaitsLeaveAtOnce) {
  due_.on_all_confirmed(Duration::seconds(5), now_);
  due_.confirm(stream_, {.delivered = 1}, now_);
  EXPECT_FALSE(due_.confirmations_due(now_));
  EXPECT_EQ(due_.next_confirm(), now_ + Duration::seconds(5));
  due_.confirm(stream_, {.answered = true, .delivered = 1}, now_);
  EXPECT_TRUE(due_.confirmations_due(now_));
}

TEST_F(DueFramesTest, AQuestionWaitsUntilItsStreamHasAState) {
  due_.confirm(stream_, {.keep_alives = 1}, now_);
  EXPECT_EQ(due_.questions().front(), &stream_);
  due_.deferred_questions(now_ + Duration::seconds(1));
  EXPECT_EQ(due_.next_confirm(), now_ + Duration::seconds(1));
  due_.confirm(stream_, {.delivered = 1, .keep_alives = 1}, now_);
  EXPECT_TRUE(due_.questions().empty());
  EXPECT_EQ(due_.confirms().front(), &stream_);
  EXPECT_TRUE(due_.confirmations_due(now_));
}

TEST_F(DueFramesTest, AStreamIsIdleAgainBehindItsCredit) {
  due_.owe_credit(stream_);
  EXPECT_EQ(due_.credits().front(), &stream_);
  EXPECT_TRUE(stream_.is_hot());
  due_.on_credit_left(stream_);
  EXPECT_TRUE(due_.credits().empty());
  EXPECT_FALSE(stream_.is_hot());
}

TEST_F(DueFramesTest, NothingIsDueOfAForgottenStream) {
  due_.owe_open(stream_);
  due_.confirm(stream_, {.answered = true}, now_);
  due_.owe_credit(stream_);
  due_.owe_reset(stream_);
  due_.fins().push_back(stream_);
  due_.forget(stream_);
  EXPECT_TRUE(due_.opens().empty());
  EXPECT_TRUE(due_.credits().empty());
  EXPECT_TRUE(due_.resets().empty());
  EXPECT_TRUE(due_.fins().empty());
  due_.on_open_left(stream_);
  EXPECT_TRUE(due_.confirms().empty());
}

}  // namespace
}  // namespace satrelay::stp::due_frames_test
