// How much the peer may send follows from how much the readers take.
#include "pep/stp/streams/credit/receive_credit.h"

#include <gtest/gtest.h>

#include <vector>

#include "pep/stp/streams/credit/lane_share.h"

namespace satrelay::stp::receive_credit_test {
namespace {

constexpr std::uint64_t kLane = 64'000;
constexpr std::uint64_t kStream = 32'000;

class ReceiveCreditTest : public ::testing::Test {
 protected:
  ReceiveCreditTest()
      : memory_(64 * 4096),
        arena_(memory_, 4096),
        credit_({kLane, kStream}, arena_, kLane),
        stream_(arena_) {
    stream_.receive.promise(kStream);
  }
  void arrive(std::size_t bytes) {
    const std::uint64_t end = stream_.receive.bytes().in_order_end() + bytes;
    credit_.lane().on_received(stream_.receive.charge(end));
    const std::vector<std::byte> payload(bytes);
    EXPECT_TRUE(stream_.receive.store(end - bytes, payload, 0).all);
    credit_.on_readable(stream_, now_);
  }
  ReceiveCredit::Occasion occasion() const { return {Duration::milliseconds(600), 1, now_}; }
  std::vector<std::byte> memory_;
  Arena arena_;
  ReceiveCredit credit_;
  Stream stream_;
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
};

TEST_F(ReceiveCreditTest, AReaderThatTakesEnoughIsWorthAFrame) {
  arrive(10'000);
  EXPECT_EQ(arena_.promise_used(), 10'000U);
  EXPECT_FALSE(credit_.consume(stream_, 1'000, occasion())) << "less than a sixteenth";
  EXPECT_TRUE(credit_.consume(stream_, 1'000, occasion()));
  EXPECT_EQ(credit_.tell(stream_, occasion()), 2'000 + kStream);
  EXPECT_EQ(arena_.promise_used(), 8'000U);
  EXPECT_FALSE(credit_.consume(stream_, 1'000, occasion()));
}

TEST_F(ReceiveCreditTest, WhatIsDroppedComesBackToTheLane) {
  arrive(10'000);
  EXPECT_EQ(credit_.lane().outstanding(), 10'000U);
  EXPECT_FALSE(credit_.consume(stream_, 500, occasion()));
  credit_.forget(stream_);
  credit_.on_dropped(stream_);
  EXPECT_EQ(credit_.lane().outstanding(), 0U);
}

TEST_F(ReceiveCreditTest, BytesThatNobodyReadsLowerWhatNewStreamsMaySend) {
  arrive(kStream / 2);
  EXPECT_FALSE(credit_.update_start(1, now_));
  now_ += Duration::seconds(1);
  EXPECT_TRUE(credit_.update_start(1, now_)) << "those that know nothing else are told";
  EXPECT_EQ(credit_.parked(), kStream / 2);
  EXPECT_TRUE(credit_.start().lowered());
  // The reader reads after all.
  EXPECT_TRUE(credit_.consume(stream_, kStream / 2, occasion()));
  EXPECT_FALSE(credit_.update_start(1, now_)) << "more is no reason";
  EXPECT_FALSE(credit_.start().lowered());
}

TEST_F(ReceiveCreditTest, AReaderThatNeedsMoreThanWasPromisedIsToldSo) {
  EXPECT_FALSE(credit_.set_reader_needs(stream_, kStream, now_));
  EXPECT_TRUE(credit_.set_reader_needs(stream_, kStream + 1, now_));
}

TEST_F(ReceiveCreditTest, ShortMemoryIsNoted) {
  EXPECT_FALSE(credit_.is_short());
  EXPECT_TRUE(ReceiveCredit({kLane, kStream}, arena_, kLane / 2).is_short());
}

}  // namespace
}  // namespace satrelay::stp::receive_credit_test
