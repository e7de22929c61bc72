// CODED and REPAIR frames: round trips, octet for octet, and refused frames.
#include "pep/stp/wire/repair_frame.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "pep/stp/fec/fec.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp::repair_frame_test {
namespace {

using Octets = std::vector<std::uint8_t>;

struct Found : IgnoreFrames {
  std::optional<CodedFrame> coded;
  std::optional<RepairFrame> repair;
  using IgnoreFrames::operator();
  void operator()(const CodedFrame& frame) { coded = frame; }
  void operator()(const RepairFrame& frame) { repair = frame; }
};

class RepairFrames : public ::testing::Test {
 protected:
  std::optional<Found> found(const Octets& octets) {
    frames_.clear();
    for (const std::uint8_t octet : octets) frames_.push_back(static_cast<std::byte>(octet));
    Found all;
    if (!walk_frames(frames_, all)) return std::nullopt;
    return all;
  }
  bool accepts(std::uint8_t type, const Octets& body) {
    Octets octets{type, static_cast<std::uint8_t>(body.size() >> 8U),
                  static_cast<std::uint8_t>(body.size())};
    octets.insert(octets.end(), body.begin(), body.end());
    return found(octets).has_value();
  }
  template <typename Write>
  static Octets written(Write&& write) {
    std::vector<std::byte> room(2'000);
    ByteWriter out(room);
    write(out);
    EXPECT_TRUE(out.ok());
    Octets octets;
    for (std::size_t i = 0; i < out.written(); ++i) {
      octets.push_back(std::to_integer<std::uint8_t>(room[i]));
    }
    return octets;
  }
  std::vector<std::byte> frames_;
};

TEST_F(RepairFrames, CodedRoundTrip) {
  const Octets octets = written([](ByteWriter& out) {
    write_coded(out, {FecCode::kPrompt, 0xfedc});
  });
  EXPECT_EQ(octets, (Octets{0x47, 0, 3, 1, 0xfe, 0xdc}));
  EXPECT_EQ(octets.size(), kCodedFrameSize);
  const auto all = found(octets);
  ASSERT_TRUE(all && all->coded);
  EXPECT_EQ(all->coded->code, FecCode::kPrompt);
  EXPECT_EQ(all->coded->index, 0xfedc);
}

TEST_F(RepairFrames, RepairRoundTripWithTheLargestValues) {
  const std::vector<std::byte> symbol(1'400, std::byte{7});
  RepairFrame frame{FecCode::kFlight, 0xffff, kMaxCodedWindow, 0xabcd, symbol};
  const Octets octets = written([&](ByteWriter& out) { write_repair(out, frame); });
  EXPECT_EQ(octets.size(), kRepairHeaderSize + symbol.size());
  EXPECT_EQ(Octets(octets.begin(), octets.begin() + 11),
            (Octets{0x48, 0x05, 0x7f, 0, 0xff, 0xff, 0x0c, 0x00, 0xab, 0xcd, 7}));
  const auto all = found(octets);
  ASSERT_TRUE(all && all->repair);
  EXPECT_EQ(all->repair->first, 0xffff);
  EXPECT_EQ(all->repair->count, kMaxCodedWindow);
  EXPECT_EQ(all->repair->row, 0xabcd);
  EXPECT_TRUE(std::ranges::equal(all->repair->symbol, symbol));
}

TEST_F(RepairFrames, MalformedOnesAreRefused) {
  //                          code, index
  EXPECT_TRUE(accepts(0x47, {0, 1, 2}));
  EXPECT_FALSE(accepts(0x47, {2, 1, 2})) << "no such code";
  EXPECT_FALSE(accepts(0x47, {0, 1})) << "short";
  EXPECT_FALSE(accepts(0x47, {0, 1, 2, 3})) << "long: what is covered would begin elsewhere";
  //                          code, first, count, row, symbol
  EXPECT_TRUE(accepts(0x48, {0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 9}));
  EXPECT_TRUE(accepts(0x48, {1, 0, 1, 0x0c, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9}));
  EXPECT_FALSE(accepts(0x48, {2, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 9})) << "no such code";
  EXPECT_FALSE(accepts(0x48, {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9})) << "of nothing";
  EXPECT_FALSE(accepts(0x48, {0, 0, 1, 0x0c, 1, 0, 0, 0, 0, 0, 0, 0, 1, 9})) << "of too many";
  EXPECT_FALSE(accepts(0x48, {0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1})) << "without frames";
  EXPECT_FALSE(accepts(0x48, {0, 0, 1, 0, 1, 0})) << "short";
}

// The repair of the largest covered packet fits into a packet.
TEST_F(RepairFrames, TheOverheadIsWhatTheLongestNeeds) {
  const std::size_t room = 1'472 - 12;
  const std::size_t covered = room - kRepairOverhead - kCodedFrameSize;
  EXPECT_EQ(kRepairHeaderSize + kSymbolHeaderSize + covered, room);
}

class CodedPackets : public RepairFrames {
 protected:
  std::optional<CodedPacket> parsed(const Octets& octets) {
    frames_.clear();
    for (const std::uint8_t octet : octets) frames_.push_back(static_cast<std::byte>(octet));
    return coded_packet(frames_);
  }
};

TEST_F(CodedPackets, BeginWithTheFrame) {
  const auto packet = parsed({0x47, 0, 3, 0, 1, 2, 0x01, 5});
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->coded.index, 0x102);
  EXPECT_EQ(packet->frames.size(), 2U);
  EXPECT_FALSE(parsed({0x01, 5, 0x47, 0, 3, 0, 1, 2, 0x01, 5})) << "not first";
  EXPECT_FALSE(parsed({0x47, 0, 3, 0, 1, 2})) << "nothing is covered";
  EXPECT_FALSE(parsed({0x47, 0, 3, 7, 1, 2, 0x01, 5})) << "malformed";
  EXPECT_FALSE(parsed({0x47, 0, 4, 0, 1, 2, 0x01, 5})) << "another length";
  EXPECT_FALSE(parsed({0x47, 0xff, 0xff, 0, 1, 2, 0x01, 5}));
  EXPECT_FALSE(parsed({}));
}

}  // namespace
}  // namespace satrelay::stp::repair_frame_test
