#include "pep/tcp/time_wait.h"

#include <gtest/gtest.h>

namespace satrelay::tcp::time_wait_test {
namespace {

using wire::TcpFlags;
using Effect = LateSegment::Effect;

class LateSegmentTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kNext = 5'000;
  wire::TcpHeader segment(std::uint32_t sequence, std::uint8_t flags = TcpFlags::kAck) const {
    wire::TcpHeader header;
    header.sequence = sequence;
    header.acknowledgment = 900;
    header.flags = flags;
    if (waits_.timestamps) header.options.timestamps = wire::TcpTimestamps{77, 0};
    return header;
  }
  LateSegment late(const wire::TcpHeader& header, std::size_t payload = 0) {
    return handle_late_segment(waits_, header, payload, counters_, now_);
  }
  TimeWait waits_{.send_next = 900, .receive_next = kNext, .window = 100, .window_scale = 2};
  Counters counters_;
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
};

TEST_F(LateSegmentTest, ARepeatedFinIsAnsweredAndTheWaitBeginsAnew) {
  const LateSegment fin = late(segment(kNext - 1, TcpFlags::kAck | TcpFlags::kFin));
  EXPECT_TRUE(fin.answered);
  EXPECT_EQ(fin.effect, Effect::kRestarts);
  const wire::TcpHeader answer = answer_of(waits_, 0);
  EXPECT_EQ(answer.sequence, 900U);
  EXPECT_EQ(answer.acknowledgment, kNext);
  EXPECT_EQ(answer.flags, TcpFlags::kAck);
  EXPECT_FALSE(answer.options.timestamps);
}

TEST_F(LateSegmentTest, APureAckIsNot) {
  const LateSegment ack = late(segment(kNext));
  EXPECT_FALSE(ack.answered);
  EXPECT_EQ(ack.effect, Effect::kNone);
}

TEST_F(LateSegmentTest, RepeatedBytesAreAnsweredAndOldAcksOnlySometimes) {
  EXPECT_TRUE(late(segment(kNext - 11), 10).answered);
  int answered = 0;
  for (int i = 0; i < 100; ++i) answered += late(segment(kNext - 1)).answered ? 1 : 0;
  EXPECT_EQ(answered, 10) << "in a second";
  now_ += Duration::milliseconds(1'100);
  EXPECT_TRUE(late(segment(kNext - 1)).answered);
}

// RFC 5961.
TEST_F(LateSegmentTest, OnlyAnExactResetEndsTheWait) {
  EXPECT_EQ(late(segment(kNext, TcpFlags::kRst)).effect, Effect::kEnds);
  const LateSegment within = late(segment(kNext + 399, TcpFlags::kRst));
  EXPECT_EQ(within.effect, Effect::kNone);
  EXPECT_TRUE(within.answered) << "challenged";
  EXPECT_FALSE(late(segment(kNext + 400, TcpFlags::kRst)).answered);
  EXPECT_FALSE(late(segment(kNext - 1, TcpFlags::kRst)).answered);
  EXPECT_TRUE(late(segment(kNext, TcpFlags::kSyn)).answered);
}

// RFC 7323.
TEST_F(LateSegmentTest, WhatIsOlderThanTheNewestTimestampIsNotUsed) {
  waits_.timestamps = true;
  waits_.recent_timestamp = 78;
  EXPECT_EQ(late(segment(kNext - 1, TcpFlags::kAck | TcpFlags::kFin)).effect, Effect::kNone);
  EXPECT_EQ(counters_.paws_rejected, 1U);
  waits_.recent_timestamp = 77;
  EXPECT_EQ(late(segment(kNext - 1, TcpFlags::kAck | TcpFlags::kFin)).effect, Effect::kRestarts);
  wire::TcpHeader bare = segment(kNext - 1, TcpFlags::kAck | TcpFlags::kFin);
  bare.options.timestamps.reset();
  const LateSegment fin = late(bare);
  EXPECT_TRUE(fin.answered) << "one without is judged by its numbers";
  EXPECT_EQ(fin.effect, Effect::kRestarts);
  bare.sequence = kNext + 400;
  EXPECT_EQ(late(bare).effect, Effect::kNone);
  EXPECT_EQ(waits_.recent_timestamp, 77U);
  EXPECT_EQ(counters_.paws_rejected, 1U);
  const wire::TcpHeader answer = answer_of(waits_, 12);
  ASSERT_TRUE(answer.options.timestamps);
  EXPECT_EQ(answer.options.timestamps->value, 12U);
  EXPECT_EQ(answer.options.timestamps->echo_reply, 77U);
}

// RFC 7323 section 5.3, RFC 5961 section 5.2.
TEST_F(LateSegmentTest, ABlindSegmentMovesNoTimestampAndRestartsNothing) {
  waits_.timestamps = true;
  waits_.recent_timestamp = 77;
  const auto blind = [&](std::uint32_t sequence, std::uint32_t ack, std::uint8_t flags) {
    wire::TcpHeader header = segment(sequence, flags);
    header.acknowledgment = ack;
    header.options.timestamps = wire::TcpTimestamps{77 + 2'000'000'000, 0};
    return late(header).effect;
  };
  blind(kNext - 1'000'000'000, 0x12345678, TcpFlags::kAck);
  blind(kNext - 1'000'000'000, 900, TcpFlags::kAck);
  blind(kNext, 901, TcpFlags::kAck);
  EXPECT_EQ(blind(kNext - 5, 900, TcpFlags::kAck | TcpFlags::kFin), Effect::kNone);
  EXPECT_EQ(blind(kNext - 1, 901, TcpFlags::kAck | TcpFlags::kFin), Effect::kNone);
  EXPECT_EQ(waits_.recent_timestamp, 77U);
  wire::TcpHeader syn = segment(kNext + 64'000, TcpFlags::kSyn);
  syn.options.timestamps = wire::TcpTimestamps{1'077, 0};  // one second later
  EXPECT_TRUE(admits_new_incarnation(waits_, syn));
}

TEST_F(LateSegmentTest, ARepeatedFinMovesTheTimestamp) {
  waits_.timestamps = true;
  waits_.recent_timestamp = 70;
  EXPECT_EQ(late(segment(kNext - 1, TcpFlags::kAck | TcpFlags::kFin)).effect, Effect::kRestarts);
  EXPECT_EQ(waits_.recent_timestamp, 77U);
}

TEST_F(LateSegmentTest, ASynWithMoreBeginsNothing) {
  for (const unsigned more : {TcpFlags::kFin, TcpFlags::kRst, TcpFlags::kAck}) {
    const auto flags = static_cast<std::uint8_t>(TcpFlags::kSyn | more);
    EXPECT_FALSE(admits_new_incarnation(waits_, segment(kNext + 1, flags))) << more;
  }
}

// RFC 6191.
TEST_F(LateSegmentTest, ANewerSynBeginsTheConnectionAnew) {
  EXPECT_TRUE(admits_new_incarnation(waits_, segment(kNext + 1, TcpFlags::kSyn)));
  EXPECT_FALSE(admits_new_incarnation(waits_, segment(kNext, TcpFlags::kSyn)));
  waits_.timestamps = true;
  waits_.recent_timestamp = 76;
  EXPECT_TRUE(admits_new_incarnation(waits_, segment(kNext - 9, TcpFlags::kSyn)));
  waits_.recent_timestamp = 78;
  EXPECT_FALSE(admits_new_incarnation(waits_, segment(kNext + 9, TcpFlags::kSyn)));
}

}  // namespace
}  // namespace satrelay::tcp::time_wait_test
