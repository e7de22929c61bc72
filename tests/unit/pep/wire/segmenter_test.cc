#include "pep/wire/segmenter.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/pep/wire/large_frame.h"
#include "tests/unit/pep/wire/tunnel_frame.h"

namespace satrelay::wire::segmenter_test {
namespace {

constexpr std::size_t kMss = 1448;

std::vector<std::vector<std::byte>> pieces_of(std::optional<Segmenter> segmenter) {
  std::vector<std::vector<std::byte>> pieces;
  if (!segmenter) return pieces;
  while (!segmenter->done()) {
    std::vector<std::byte> piece(segmenter->next_size());
    EXPECT_LE(piece.size(), segmenter->longest());
    segmenter->write_next(piece);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::vector<std::vector<std::byte>> cut(ConstBytes frame, SegmentedProtocol protocol,
                                        std::size_t segment_size) {
  const auto source = exact_copy(frame);
  return pieces_of(Segmenter::of(source, protocol, segment_size));
}

std::vector<std::vector<std::byte>> cut_in_tunnel(ConstBytes frame, std::size_t transport_at,
                                                  SegmentedProtocol protocol,
                                                  std::size_t segment_size) {
  const auto source = exact_copy(frame);
  const auto tunnel = Tunnel::around(source, transport_at);
  if (!tunnel) return {};
  return pieces_of(Segmenter::of(source, *tunnel, protocol, segment_size));
}

// All that a receiver reads from a piece.
struct Seen {
  IpHeader ip;
  ParsedTcp tcp;
  UdpHeader udp;
  bool checksum_ok = false;
  std::vector<std::byte> payload;
};

Seen read(const std::vector<std::byte>& piece) {
  Seen seen;
  const auto ethernet = parse_ethernet(piece);
  const ConstBytes packet = ConstBytes(piece).subspan(ethernet->size());
  const auto ip = parse_ip(packet);  // checks the checksum of the header, too
  EXPECT_TRUE(ip);
  seen.ip = *ip;
  const ConstBytes transport = packet.subspan(ip->header_size, ip->payload_size);
  EXPECT_EQ(ip->header_size + std::size_t{ip->payload_size}, packet.size());
  seen.checksum_ok = transport_checksum_ok(ip->source, ip->destination, ip->protocol, transport);
  std::size_t header = kUdpHeaderSize;
  if (ip->protocol == kProtocolTcp) {
    seen.tcp = *parse_tcp(transport);
    header = seen.tcp.header_size;
  } else {
    seen.udp = *parse_udp(transport);
  }
  const ConstBytes payload = transport.subspan(header);
  seen.payload.assign(payload.begin(), payload.end());
  return seen;
}

TEST(Segmenter, CutsTcpOfBothVersionsBehindTags) {
  for (const bool is_v4 : {true, false}) {
    for (std::uint8_t tags = 0; tags <= 2; ++tags) {
      for (const std::size_t payload :
           {std::size_t{1}, kMss, kMss + 1, 3 * kMss, std::size_t{64000}}) {
        const LargeFrame large{.is_v4 = is_v4, .tags = tags, .payload = payload};
        const auto frame = large.write();
        const auto pieces = cut(frame, SegmentedProtocol::kTcp, kMss);
        ASSERT_EQ(pieces.size(), (payload + kMss - 1) / kMss);
        std::vector<std::byte> whole;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
          const Seen seen = read(pieces[i]);
          EXPECT_TRUE(seen.checksum_ok) << i;
          EXPECT_EQ(seen.tcp.header.sequence,
                    static_cast<std::uint32_t>(large.sequence + i * kMss));
          EXPECT_EQ(seen.tcp.header.options.timestamps->value, 5U);
          EXPECT_EQ(seen.ip.traffic_class, 0x2a);
          if (is_v4) {
            EXPECT_EQ(seen.ip.identification, static_cast<std::uint16_t>(0xfffeU + i));
          }
          EXPECT_TRUE(
              std::equal(pieces[i].begin(), pieces[i].begin() + 14 + 4 * tags, frame.begin()));
          whole.insert(whole.end(), seen.payload.begin(), seen.payload.end());
        }
        EXPECT_TRUE(std::equal(whole.begin(), whole.end(),
                               frame.end() - static_cast<std::ptrdiff_t>(payload), frame.end()));
      }
    }
  }
}

TEST(Segmenter, GivesFinAndPshToTheLastAndCwrToTheFirst) {
  constexpr std::uint8_t kAll =
      TcpFlags::kAck | TcpFlags::kFin | TcpFlags::kPsh | TcpFlags::kCwr | TcpFlags::kEce;
  const LargeFrame large{.flags = kAll, .payload = 2 * kMss + 100};
  const auto pieces = cut(large.write(), SegmentedProtocol::kTcp, kMss);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(read(pieces[0]).tcp.header.flags, TcpFlags::kAck | TcpFlags::kCwr | TcpFlags::kEce);
  EXPECT_EQ(read(pieces[1]).tcp.header.flags, TcpFlags::kAck | TcpFlags::kEce);
  EXPECT_EQ(read(pieces[2]).tcp.header.flags,
            TcpFlags::kAck | TcpFlags::kEce | TcpFlags::kFin | TcpFlags::kPsh);
}

TEST(Segmenter, CutsUdpIntoDatagrams) {
  for (const bool is_v4 : {true, false}) {
    const LargeFrame large{.is_v4 = is_v4, .is_tcp = false, .payload = 2500};
    const auto pieces = cut(large.write(), SegmentedProtocol::kUdp, 1000);
    ASSERT_EQ(pieces.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      const Seen seen = read(pieces[i]);
      EXPECT_TRUE(seen.checksum_ok);
      EXPECT_NE(seen.udp.checksum, 0);
      EXPECT_EQ(seen.payload.size(), i < 2 ? 1000U : 500U);
      EXPECT_EQ(seen.udp.length, seen.payload.size() + 8);
    }
  }
}

TEST(Segmenter, CopiesExtensionHeaders) {
  // Hop-by-hop options, then destination options, then TCP.
  const LargeFrame large{.is_v4 = false,
                         .payload = 3000,
                         .extensions = "3c 00 01 04 00000000 06 00 01 04 00000000",
                         .first_extension = 0};
  const auto frame = large.write();
  const auto pieces = cut(frame, SegmentedProtocol::kTcp, kMss);
  ASSERT_EQ(pieces.size(), 3U);
  for (const auto& piece : pieces) {
    EXPECT_TRUE(std::equal(piece.begin() + 54, piece.begin() + 70, frame.begin() + 54));
    const auto ip = parse_ip(ConstBytes(piece).subspan(14));
    ASSERT_TRUE(ip);
    EXPECT_TRUE(transport_checksum_ok(ip->source, ip->destination, kProtocolTcp,
                                      ConstBytes(piece).subspan(70)));
  }
}

TEST(Segmenter, RefusesWhatIsNoSuchFrame) {
  const auto tcp = LargeFrame{.payload = 3000}.write();
  EXPECT_FALSE(Segmenter::of(tcp, SegmentedProtocol::kUdp, kMss));
  EXPECT_FALSE(Segmenter::of(tcp, SegmentedProtocol::kTcp, 0));
  EXPECT_FALSE(Segmenter::of(LargeFrame{}.write(), SegmentedProtocol::kTcp, kMss)) << "no payload";
  auto fragment = tcp;
  fragment[20] = std::byte{0x20};  // more fragments follow
  fragment[24] = fragment[25] = std::byte{0};
  const std::uint16_t sum = checksum_sum(ConstBytes(fragment).subspan(14, 20));
  store_u16(fragment.data() + 24, static_cast<std::uint16_t>(~sum));
  EXPECT_FALSE(Segmenter::of(fragment, SegmentedProtocol::kTcp, kMss));
  // A Routing header that names further hosts.
  const LargeFrame routed{.is_v4 = false,
                          .payload = 3000,
                          .extensions = "06 02 04 01 00000000 fd030000000000000000000000000001",
                          .first_extension = 43};
  EXPECT_FALSE(Segmenter::of(routed.write(), SegmentedProtocol::kTcp, kMss));
  for (std::size_t size = 0; size < 200; ++size) {
    cut(ConstBytes(tcp).first(size), SegmentedProtocol::kTcp, kMss);  // reads within `tcp` only
  }
}

// The pieces equal those that the sender would have sent if it had cut the inner frame first.
TEST(Segmenter, CutsWithinATunnel) {
  using Carries = TunnelFrame::Carries;
  using Checksums = TunnelFrame::Checksums;
  for (const TunnelFrame& tunnel : tunnel_frames()) {
    for (const bool is_v4 : {true, false}) {
      if (tunnel.carries == (is_v4 ? Carries::kIpv6 : Carries::kIpv4)) continue;
      for (const bool is_tcp : {true, false}) {
        constexpr std::uint8_t kAll =
            TcpFlags::kAck | TcpFlags::kFin | TcpFlags::kPsh | TcpFlags::kCwr | TcpFlags::kEce;
        const auto inner =
            LargeFrame{.is_v4 = is_v4, .is_tcp = is_tcp, .flags = kAll, .payload = 5003}.write();
        const auto protocol = is_tcp ? SegmentedProtocol::kTcp : SegmentedProtocol::kUdp;
        std::vector<std::vector<std::byte>> expected;
        for (const auto& piece : cut(inner, protocol, 1001)) {
          const auto number = static_cast<std::uint16_t>(expected.size());
          expected.push_back(tunnel.around(piece, number, Checksums::kComplete));
        }
        const std::size_t inner_at =
            tunnel.headers() + (tunnel.carries == Carries::kEthernet ? 14 : 0);
        const auto pieces = cut_in_tunnel(tunnel.around(inner, 0, Checksums::kLeft),
                                          inner_at + (is_v4 ? 20 : 40), protocol, 1001);
        ASSERT_EQ(pieces.size(), 5U) << tunnel.name;
        EXPECT_EQ(pieces, expected) << tunnel.name << is_v4 << is_tcp;
      }
    }
  }
}

TEST(Segmenter, AnMtuIsAboutTheOuterPacket) {
  const TunnelFrame vxlan = tunnel_frames()[0];
  const auto frame =
      vxlan.around(LargeFrame{.payload = 5000}.write(), 0, TunnelFrame::Checksums::kLeft);
  const auto tunnel = Tunnel::around(frame, 84);
  ASSERT_TRUE(tunnel);
  const auto segmenter = Segmenter::of(frame, *tunnel, SegmentedProtocol::kTcp, 1398);
  ASSERT_TRUE(segmenter);
  EXPECT_TRUE(segmenter->is_in_tunnel());
  EXPECT_EQ(segmenter->longest(), 1514U);
  EXPECT_EQ(segmenter->longest_packet(), 1500U);
  EXPECT_FALSE(Segmenter::of(frame, *tunnel, SegmentedProtocol::kUdp, 1398));
}

TEST(Segmenter, MakesNoFloodOfPieces) {
  const TunnelFrame vxlan = tunnel_frames()[0];
  const auto inner = LargeFrame{.payload = 64000}.write();
  const auto frame = vxlan.around(inner, 0, TunnelFrame::Checksums::kLeft);
  const auto tunnel = Tunnel::around(frame, 84);
  ASSERT_TRUE(tunnel);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
    EXPECT_FALSE(Segmenter::of(inner, SegmentedProtocol::kTcp, size));
    EXPECT_FALSE(Segmenter::of(frame, *tunnel, SegmentedProtocol::kTcp, size));
  }
  EXPECT_TRUE(Segmenter::of(inner, SegmentedProtocol::kTcp, 8));
  EXPECT_TRUE(Segmenter::of(frame, *tunnel, SegmentedProtocol::kTcp, 8));
}

TEST(Segmenter, SurvivesAnyBytesInTunnels) {
  Random random(8);
  for (const TunnelFrame& shape : tunnel_frames()) {
    const bool is_v4 = shape.carries != TunnelFrame::Carries::kIpv6;
    const auto frame = shape.around(LargeFrame{.is_v4 = is_v4, .payload = 3000}.write(), 0,
                                    TunnelFrame::Checksums::kLeft);
    const std::size_t inner_at =
        shape.headers() + (shape.carries == TunnelFrame::Carries::kEthernet ? 14 : 0);
    const std::size_t transport_at = inner_at + (is_v4 ? 20 : 40);
    for (int i = 0; i < 2'000; ++i) {
      auto damaged = frame;
      for (int k = 0; k < 3; ++k) {
        damaged[random.next() % (transport_at + 20)] = static_cast<std::byte>(random.next());
      }
      if (i % 4 == 0) damaged.resize(random.next() % damaged.size());
      cut_in_tunnel(damaged, i % 3 == 0 ? random.next() % 200 : transport_at,
                    SegmentedProtocol::kTcp, 1 + random.next() % 2000);
    }
  }
}

TEST(Segmenter, PiecesCanBeMadeToFitAnMtu) {
  const auto frame = LargeFrame{.is_v4 = false, .tags = 2, .payload = 9000}.write();
  auto segmenter = Segmenter::of(frame, SegmentedProtocol::kTcp, 9000);
  ASSERT_TRUE(segmenter->fit(1500));
  EXPECT_EQ(segmenter->longest(), 22U + 1500U);
  EXPECT_EQ(segmenter->next_size(), 22U + 1500U);
  ASSERT_TRUE(segmenter->fit(9000));
  EXPECT_EQ(segmenter->longest(), 22U + 1500U) << "they do not become longer";
  EXPECT_FALSE(segmenter->fit(143)) << "more headers than payload";
  EXPECT_TRUE(segmenter->fit(144));
  EXPECT_EQ(segmenter->longest_packet(), 144U);
}

TEST(Segmenter, MoreThanARunOfBytesIsNotMadeToFit) {
  for (const std::uint8_t flag : {TcpFlags::kSyn, TcpFlags::kRst, TcpFlags::kUrg}) {
    const auto frame = LargeFrame{.flags = flag, .payload = 3000}.write();
    EXPECT_FALSE(Segmenter::of(frame, SegmentedProtocol::kTcp, kMss)->fit(1500));
  }
}

TEST(Segmenter, KnowsWhetherAFrameIsDamaged) {
  for (const bool is_tcp : {true, false}) {
    const auto protocol = is_tcp ? SegmentedProtocol::kTcp : SegmentedProtocol::kUdp;
    auto frame = cut(LargeFrame{.is_tcp = is_tcp, .payload = 1000}.write(), protocol, kMss)[0];
    EXPECT_TRUE(Segmenter::of(frame, protocol, 100)->checksum_is_right());
    frame.back() ^= std::byte{1};
    EXPECT_FALSE(Segmenter::of(frame, protocol, 100)->checksum_is_right());
  }
}

TEST(Segmenter, SurvivesAnyBytes) {
  Random random(7);
  const std::vector<std::vector<std::byte>> frames{
      LargeFrame{.payload = 3000}.write(),
      LargeFrame{.is_v4 = false, .is_tcp = false, .tags = 1, .payload = 3000}.write()};
  for (int i = 0; i < 20'000; ++i) {
    auto frame = frames[static_cast<std::size_t>(i % 2)];
    for (int k = 0; k < 3; ++k) {
      frame[random.next() % 80] = static_cast<std::byte>(random.next());
    }
    cut(frame, i % 2 == 0 ? SegmentedProtocol::kTcp : SegmentedProtocol::kUdp,
        1 + random.next() % 2000);
  }
}

}  // namespace
}  // namespace satrelay::wire::segmenter_test
