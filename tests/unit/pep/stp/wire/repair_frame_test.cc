// REPAIR: round trips, and what is refused.
#include "pep/stp/wire/repair_frame.h"

#include "tests/unit/pep/stp/fec/blocks.h"

namespace satrelay::stp::test {
namespace {

class RepairFrames : public ::testing::Test {
 protected:
  // Bytes behind the type.
  static bool accepts(std::vector<std::uint8_t> body) {
    Frames frames;
    const std::size_t size = body.size();
    for (const std::size_t b : {std::size_t{0x42}, size >> 8, size & 0xff}) {
      frames.push_back(static_cast<std::byte>(b));
    }
    for (const std::uint8_t b : body) frames.push_back(static_cast<std::byte>(b));
    return parse(frames).has_value();
  }
};

TEST_F(RepairFrames, RoundTripWithTheLargestSpan) {
  RepairFrame frame;
  frame.distance = kMaxRepairDistance;
  frame.row = FecCodec::kMaxRepairs - 1;
  for (std::size_t i = 0; i < 127; i += 2) frame.members.insert(i);
  frame.members.insert(127);
  EXPECT_EQ(frame.members.count(), 65U);
  frame.members = {};
  for (std::size_t i = 0; i < 126; i += 2) frame.members.insert(i);
  frame.members.insert(127);
  ASSERT_EQ(frame.members.count(), FecCodec::kMaxSources);
  Frames room(200);
  ByteWriter writer(room);
  write_repair_header(writer, frame, 3);
  writer.u16(1);
  writer.u8(0);
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(writer.written(), kMaxRepairOverhead + 1);
  const auto parsed = parse(ConstBytes(room).first(writer.written()));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->distance, frame.distance);
  EXPECT_EQ(parsed->row, frame.row);
  EXPECT_EQ(parsed->members, frame.members);
  EXPECT_EQ(parsed->symbol.size(), 3U);
}

TEST_F(RepairFrames, MalformedOnesAreRefused) {
  //                      distance, row, span - 1, members, symbol
  EXPECT_TRUE(accepts({3, 0, 2, 0b101, 0, 1, 9}));
  EXPECT_FALSE(accepts({2, 0, 2, 0b101, 0, 1, 9})) << "stands for itself";
  EXPECT_FALSE(accepts({3, 24, 2, 0b101, 0, 1, 9})) << "no such row";
  EXPECT_FALSE(accepts({3, 0, 2, 0b100, 0, 1, 9})) << "the first is no member";
  EXPECT_FALSE(accepts({3, 0, 2, 0b001, 0, 1, 9})) << "the last is no member";
  EXPECT_FALSE(accepts({3, 0, 2, 0b1101, 0, 1, 9})) << "members beyond the span";
  EXPECT_FALSE(accepts({3, 0, 2, 0b101, 0, 1})) << "a symbol without bytes";
  EXPECT_FALSE(accepts({3, 0, 128, 0b101, 0, 1, 9})) << "too wide";
  EXPECT_FALSE(accepts({3, 0, 2})) << "short";
  std::vector<std::uint8_t> crowded = {0x40, 200, 0, 127};
  crowded.insert(crowded.end(), 16, 0xff);
  crowded.insert(crowded.end(), {0, 1, 9});
  EXPECT_FALSE(accepts(crowded)) << "more members than a block has";
}

}  // namespace
}  // namespace satrelay::stp::test
