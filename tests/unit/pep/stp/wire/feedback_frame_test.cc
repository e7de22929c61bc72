// Reports as lists of ranges and as bitmaps.
#include "pep/stp/wire/feedback_frame.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/pep/stp/wire/transcript.h"

namespace satrelay::stp::test::feedback_frame_test {
namespace {

TEST(FeedbackFrameTest, RefusesRangesThatDoNotFitTheirReport) {
  const auto report = [](std::uint64_t highest, std::uint64_t below_floor,
                         std::uint64_t below_begin, std::vector<std::uint64_t> runs,
                         std::uint64_t told = 0) {
    Buffer b;
    b.out.u8(0x03);
    write_varint(b.out, highest);
    write_varint(b.out, 0);
    b.out.u32(0x12345678);
    for (const std::uint64_t v :
         {std::uint64_t{25}, below_floor, below_begin, std::uint64_t{0}, std::uint64_t{0},
          std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}, told}) {
      write_varint(b.out, v);
    }
    b.out.u16(static_cast<std::uint16_t>(runs.size() / 2));
    for (const std::uint64_t v : runs) write_varint(b.out, v);
    return read(b.bytes());
  };
  EXPECT_EQ(report(9, 10, 10, {3, 2, 5}), "FEEDBACK 0 0-10/9: +0-3 -3-5 +5-10;");
  EXPECT_EQ(report(9, 10, 10, {0, 2, 8}), "FEEDBACK 0 0-10/9: -0-2 +2-10;");
  EXPECT_EQ(report(9, 10, 10, {3, 2, 6}), std::nullopt);        // beyond the highest
  EXPECT_EQ(report(9, 10, 10, {3, 0, 5}), std::nullopt);        // an empty gap
  EXPECT_EQ(report(9, 10, 10, {3, 2, 0, 1, 1}), std::nullopt);  // gaps that touch
  EXPECT_EQ(report(9, 11, 10, {3, 2, 5}), std::nullopt);        // the floor would be below zero
  EXPECT_EQ(report(9, 5, 10, {3, 2, 5}), std::nullopt);         // begins below the floor
  EXPECT_EQ(report(9, 10, 10, {3, kMaxVarint, 5}), std::nullopt);
  EXPECT_NE(report(9, 10, 7, {3, 1, 3}, 3), std::nullopt);
  EXPECT_EQ(report(9, 10, 7, {3, 1, 3}, 4), std::nullopt);  // the report would begin below zero
}

TEST(FeedbackFrameTest, ReadsABitmap) {
  const auto report = [](std::uint64_t highest, std::uint64_t below_begin, std::uint64_t bits,
                         std::vector<std::uint8_t> map, std::uint64_t tail) {
    Buffer b;
    b.out.u8(0x03);
    write_varint(b.out, highest);
    write_varint(b.out, 0);
    b.out.u32(0x12345678);
    for (const std::uint64_t v :
         {std::uint64_t{25}, below_begin, below_begin, std::uint64_t{0}, std::uint64_t{0},
          std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}}) {
      write_varint(b.out, v);
    }
    b.out.u16(FeedbackFrame::kBitmap);
    write_varint(b.out, bits);
    for (const std::uint8_t octet : map) b.out.u8(octet);
    write_varint(b.out, tail);
    return read(b.bytes());
  };
  EXPECT_EQ(report(19, 20, 12, {0b1110'0111, 0b1111'1110}, 8),
            "FEEDBACK 0 0-20/19: +0-3 -3-5 +5-8 -8-9 +9-20;");
  EXPECT_EQ(report(19, 20, 9, {0x00, 0xff}, 0), "FEEDBACK 0 0-9/19: -0-8 +8-9;");
  EXPECT_EQ(report(19, 12, 8, {0xff}, 4), "FEEDBACK 8 8-20/19: +8-20;");
  EXPECT_EQ(report(19, 20, 16, {0xff}, 0), std::nullopt);        // shorter than its length says
  EXPECT_EQ(report(19, 20, 0, {}, 0), std::nullopt);             // empty
  EXPECT_EQ(report(9, 10, 12, {0xff, 0xff}, 0), std::nullopt);   // beyond the highest
  EXPECT_EQ(report(19, 20, 16, {0xff, 0xff}, 5), std::nullopt);  // the tail would end beyond it
  EXPECT_EQ(report(19, 20, kMaxVarint, {0xff, 0xff}, 0), std::nullopt);
}

}  // namespace
}  // namespace satrelay::stp::test::feedback_frame_test
