#include "relay/gateway/opening/segment_numbers.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::segment_numbers_test {
namespace {

using Flags = wire::TcpFlags;

TEST(SegmentNumbers, AreReadFromItsHeader) {
  wire::TcpHeader header;
  header.sequence = 7;
  header.acknowledgment = 9;
  header.flags = Flags::kFin | Flags::kAck;
  header.options.mss = 1460;
  FrameBytes bytes(wire::tcp_header_size(header) + 11);
  wire::write_tcp(header, bytes);
  const auto numbers = numbers_of(bytes);
  EXPECT_EQ(numbers.flags, Flags::kFin | Flags::kAck);
  EXPECT_EQ(numbers.sequence, 7U);
  EXPECT_EQ(numbers.acknowledgment, 9U);
  EXPECT_EQ(numbers.payload, 11U);
  bytes[12] = std::byte{0xf0};  // a header that is longer than the segment
  EXPECT_EQ(numbers_of(bytes).payload, 0U);
}

TEST(SegmentNumbers, AreWithinReachInEitherDirection) {
  EXPECT_TRUE(is_within_reach(5, 0xffff'fff0U));
  EXPECT_TRUE(is_within_reach(0xffff'fff0U, 5));
  EXPECT_TRUE(is_within_reach(0, kSequenceReach));
  EXPECT_TRUE(is_within_reach(kSequenceReach, 0));
  EXPECT_FALSE(is_within_reach(0, kSequenceReach + 1));
  EXPECT_FALSE(is_within_reach(kSequenceReach + 1, 0));
}

}  // namespace
}  // namespace satrelay::gateway::segment_numbers_test
