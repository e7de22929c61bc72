#include "pep/wire/coalescer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/pep/wire/large_frame.h"

namespace satrelay::wire::coalescer_test {
namespace {

using Origin = Coalescer::Origin;
using Frames = std::vector<std::vector<std::byte>>;
constexpr std::size_t kMss = 1448;

SegmentedProtocol protocol_of(const LargeFrame& large) {
  return large.is_tcp ? SegmentedProtocol::kTcp : SegmentedProtocol::kUdp;
}

Frames cut(ConstBytes frame, SegmentedProtocol protocol, std::size_t segment_size) {
  Frames pieces;
  auto segmenter = Segmenter::of(frame, protocol, segment_size);
  if (!segmenter) return pieces;
  while (!segmenter->done()) {
    pieces.emplace_back(segmenter->next_size());
    segmenter->write_next(pieces.back());
  }
  return pieces;
}

// How many of the frames, from the first on, the coalescer joins; 1: none.
std::size_t together(Coalescer& coalescer, const Frames& frames, Origin origin) {
  if (!coalescer.begin(frames[0], origin)) return 1;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    if (!coalescer.add(frames[i], origin)) break;
  }
  return coalescer.count();
}

std::vector<std::byte> whole_of(const Coalescer& coalescer, const Frames& frames) {
  std::vector<std::byte> whole(coalescer.header_size());
  coalescer.write_header(whole);
  for (std::size_t i = 0; i < coalescer.count(); ++i) {
    whole.insert(whole.end(),
                 frames[i].begin() + static_cast<std::ptrdiff_t>(coalescer.header_size()),
                 frames[i].end());
  }
  EXPECT_EQ(whole.size(), coalescer.size());
  return whole;
}

Frames two_segments() {
  return cut(LargeFrame{.payload = 2 * kMss}.write(), SegmentedProtocol::kTcp, kMss);
}

void fix_checksums(std::vector<std::byte>& frame) {
  std::byte* ip = frame.data() + 14;
  store_u16(ip + 10, 0);
  const std::uint16_t header = checksum_sum(ConstBytes(frame).subspan(14, 20));
  store_u16(ip + 10, static_cast<std::uint16_t>(~header));
  const auto parsed = parse_ip(ConstBytes(frame).subspan(14));
  const MutableBytes segment = MutableBytes(frame).subspan(34);
  store_u16(segment.data() + kTcpChecksumOffset, 0);
  store_u16(segment.data() + kTcpChecksumOffset,
            transport_checksum(parsed->source, parsed->destination, kProtocolTcp, segment));
}

TEST(Coalescer, MakesOfPiecesTheFrameThatTheyWereCutFrom) {
  for (const bool is_v4 : {true, false}) {
    for (const bool is_tcp : {true, false}) {
      for (std::uint8_t tags = 0; tags <= 2; ++tags) {
        for (const std::size_t payload : {2 * kMss, 5 * kMss + 7, 44 * kMss}) {
          const LargeFrame large{
              .is_v4 = is_v4,
              .is_tcp = is_tcp,
              .tags = tags,
              .flags = TcpFlags::kAck | TcpFlags::kPsh | TcpFlags::kFin | TcpFlags::kEce,
              .payload = payload};
          const auto frame = large.write();
          const Frames pieces = cut(frame, protocol_of(large), kMss);
          Coalescer coalescer;
          ASSERT_EQ(together(coalescer, pieces, Origin::kChecked), pieces.size());
          EXPECT_EQ(coalescer.segment_size(), kMss);
          EXPECT_EQ(coalescer.tag_count(), tags);
          EXPECT_EQ(coalescer.protocol(), protocol_of(large));
          EXPECT_EQ(whole_of(coalescer, pieces), frame);
        }
      }
    }
  }
}

TEST(Coalescer, TakesNothingWhoseChecksumMayBeWrong) {
  Coalescer coalescer;
  EXPECT_EQ(together(coalescer, two_segments(), Origin::kUnchecked), 1U);
  Frames pieces = two_segments();
  pieces[1][24] ^= std::byte{1};  // the checksum of the IP header is wrong
  EXPECT_EQ(together(coalescer, pieces, Origin::kChecked), 1U);
  // When a joined frame is cut again, each datagram gets a checksum. So datagrams without one are
  // joined only if they are our own.
  Frames datagrams =
      cut(LargeFrame{.is_tcp = false, .payload = 2000}.write(), SegmentedProtocol::kUdp, 1000);
  for (auto& datagram : datagrams) store_u16(datagram.data() + 40, 0);
  EXPECT_EQ(together(coalescer, datagrams, Origin::kChecked), 1U);
  EXPECT_EQ(together(coalescer, datagrams, Origin::kOwn), 2U);
  // Our own frames and those of other senders are not joined either.
  pieces = two_segments();
  ASSERT_TRUE(coalescer.begin(pieces[0], Origin::kOwn));
  EXPECT_FALSE(coalescer.add(pieces[1], Origin::kChecked));
}

// Each field that would be different if the joined frame were cut again.
TEST(Coalescer, KeepsApartWhatDiffers) {
  struct Change {
    std::size_t at;
    const char* what;
  };
  constexpr Change kChanges[] = {
      {0, "destination MAC"},
      {6, "source MAC"},
      {15, "TOS"},
      {19, "identification"},
      {22, "TTL"},
      {26, "source address"},
      {33, "destination"},
      {34, "source port"},
      {36, "port"},
      {41, "sequence"},
      {42, "acknowledgment"},
      {47, "ECE"},
      {48, "window"},
      {57, "timestamp"},
  };
  for (const Change& change : kChanges) {
    Frames pieces = two_segments();
    pieces[1][change.at] ^= std::byte{0x40};
    fix_checksums(pieces[1]);
    Coalescer coalescer;
    EXPECT_EQ(together(coalescer, pieces, Origin::kChecked), 1U) << change.what;
  }
}

TEST(Coalescer, EndsWithAShortPieceOrPsh) {
  Frames pieces = cut(LargeFrame{.payload = 2 * kMss - 1}.write(), SegmentedProtocol::kTcp, kMss);
  const Frames next =
      cut(LargeFrame{.sequence = 0xffff'f000U + 2 * kMss - 1, .identification = 0, .payload = 100}
              .write(),
          SegmentedProtocol::kTcp, kMss);
  pieces.push_back(next[0]);
  Coalescer coalescer;
  EXPECT_EQ(together(coalescer, pieces, Origin::kChecked), 2U);
  pieces = cut(LargeFrame{.payload = 3 * kMss}.write(), SegmentedProtocol::kTcp, kMss);
  pieces[1][47] |= std::byte{TcpFlags::kPsh};
  fix_checksums(pieces[1]);
  EXPECT_EQ(together(coalescer, pieces, Origin::kChecked), 2U);
  pieces[0][47] |= std::byte{TcpFlags::kPsh};
  fix_checksums(pieces[0]);
  EXPECT_EQ(together(coalescer, pieces, Origin::kChecked), 1U);
}

TEST(Coalescer, LeavesAloneWhatIsNoPiece) {
  for (const std::uint8_t flag : {TcpFlags::kSyn, TcpFlags::kRst, TcpFlags::kUrg, TcpFlags::kCwr}) {
    const auto frame =
        LargeFrame{.flags = static_cast<std::uint8_t>(TcpFlags::kAck | flag), .payload = 1000}
            .write();
    Coalescer coalescer;
    EXPECT_FALSE(coalescer.begin(frame, Origin::kOwn)) << int{flag};
  }
  Coalescer coalescer;
  EXPECT_FALSE(coalescer.begin(LargeFrame{}.write(), Origin::kOwn)) << "a mere acknowledgment";
  auto padded = LargeFrame{.payload = 100}.write();
  padded.push_back({});
  EXPECT_FALSE(coalescer.begin(padded, Origin::kOwn));
  const Frames pieces = two_segments();
  for (std::size_t size = 0; size < 150; ++size) {
    const auto part = exact_copy(ConstBytes(pieces[0]).first(size));
    coalescer.begin(part, Origin::kOwn);  // must not read beyond the end
  }
}

TEST(Coalescer, CountsOnOrOwnsItsIdentifications) {
  Frames pieces = two_segments();
  for (auto& piece : pieces) {
    store_u16(piece.data() + 18, 0);
    fix_checksums(piece);
  }
  Coalescer coalescer;
  EXPECT_EQ(together(coalescer, pieces, Origin::kChecked), 1U);
  EXPECT_EQ(together(coalescer, pieces, Origin::kOwn), 2U);
  for (auto& piece : pieces) {
    piece[20] = std::byte{0};  // may be fragmented
    fix_checksums(piece);
  }
  EXPECT_EQ(together(coalescer, pieces, Origin::kOwn), 1U);
}

TEST(Coalescer, StaysWithinAnIpPacket) {
  Frames pieces;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const LargeFrame next{.sequence = static_cast<std::uint32_t>(i * kMss),
                          .identification = static_cast<std::uint16_t>(i),
                          .payload = kMss};
    pieces.push_back(cut(next.write(), SegmentedProtocol::kTcp, kMss)[0]);
  }
  Coalescer coalescer;
  EXPECT_EQ(together(coalescer, pieces, Origin::kChecked), (65535U - 52) / kMss);
}

TEST(Coalescer, SurvivesAnyBytes) {
  Random random(11);
  const Frames good = two_segments();
  for (int i = 0; i < 20'000; ++i) {
    Frames pieces = good;
    for (auto& piece : pieces) {
      if (random.next() % 2 == 0) piece[random.next() % 70] = static_cast<std::byte>(random.next());
    }
    Coalescer coalescer;
    if (together(coalescer, pieces, Origin::kOwn) == 2) {
      // The joined frame is cut into the same frames again.
      const auto whole = whole_of(coalescer, pieces);
      const Frames again = cut(whole, coalescer.protocol(), coalescer.segment_size());
      ASSERT_EQ(again.size(), 2U);
      EXPECT_EQ(again[0].size(), pieces[0].size());
      EXPECT_EQ(again[1].size(), pieces[1].size());
    }
  }
}

}  // namespace
}  // namespace satrelay::wire::coalescer_test
