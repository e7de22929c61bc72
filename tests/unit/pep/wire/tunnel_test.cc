#include "pep/wire/tunnel.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/pep/wire/large_frame.h"
#include "tests/unit/pep/wire/tunnel_frame.h"

namespace satrelay::wire::tunnel_test {
namespace {

using Checksums = TunnelFrame::Checksums;
constexpr TunnelFrame kVxlan{"VXLAN", TunnelFrame::Carries::kEthernet, "08000000 00000500",
                             TunnelFrame::Udp::kWithoutChecksum};
constexpr TunnelFrame kGre{.name = "GRE",
                           .carries = TunnelFrame::Carries::kIpv4,
                           .header = "00000800",
                           .protocol = 47,
                           .gre_at = 0};
constexpr TunnelFrame kIpip{
    .name = "IPIP", .carries = TunnelFrame::Carries::kIpv4, .header = "", .protocol = 4};

std::vector<std::byte> in(const TunnelFrame& tunnel, const LargeFrame& inner = {.payload = 5000}) {
  return tunnel.around(inner.write(), 0, Checksums::kLeft);
}

// Where the TCP header begins, if the tunnel carries TCP over IPv4.
std::size_t transport_in(const TunnelFrame& tunnel) {
  return tunnel.headers() + (tunnel.carries == TunnelFrame::Carries::kEthernet ? 34 : 20);
}

bool is_found(const TunnelFrame& tunnel, const std::vector<std::byte>& frame) {
  return Tunnel::around(exact_copy(frame), transport_in(tunnel)).has_value();
}

TunnelFrame with_header(TunnelFrame tunnel, std::string_view header) {
  tunnel.header = header;
  return tunnel;
}

bool is_found_with_header(const TunnelFrame& tunnel, std::string_view header) {
  const TunnelFrame other = with_header(tunnel, header);
  return is_found(other, in(other));
}

// Changes a field of the outer IPv4 header, and corrects the checksum.
void change_outer(std::vector<std::byte>& frame, std::size_t at, std::uint16_t value) {
  store_u16(frame.data() + 14 + at, value);
  store_u16(frame.data() + 24, 0);
  const std::uint16_t sum = checksum_sum(ConstBytes(frame).subspan(14, 20));
  store_u16(frame.data() + 24, static_cast<std::uint16_t>(~sum));
}

TEST(Tunnel, IsFoundWhereItsHeadersLead) {
  for (const TunnelFrame& tunnel : tunnel_frames()) {
    const bool is_v4 = tunnel.carries != TunnelFrame::Carries::kIpv6;
    const bool is_ethernet = tunnel.carries == TunnelFrame::Carries::kEthernet;
    const auto frame = in(tunnel, {.is_v4 = is_v4, .payload = 5000});
    const std::size_t inner_at = tunnel.headers() + (is_ethernet ? 14 : 0);
    const std::size_t transport_at = inner_at + (is_v4 ? 20 : 40);
    const auto found = Tunnel::around(exact_copy(frame), transport_at);
    ASSERT_TRUE(found) << tunnel.name;
    EXPECT_EQ(found->outer_at(), tunnel.outer_at()) << tunnel.name;
    EXPECT_EQ(found->inner_at(), inner_at) << tunnel.name;
    EXPECT_EQ(found->inner_type(), is_v4 ? EtherType::kIpv4 : EtherType::kIpv6) << tunnel.name;
    for (std::size_t other = 0; other < transport_at + 100; ++other) {
      EXPECT_EQ(Tunnel::around(frame, other).has_value(), other == transport_at) << tunnel.name;
    }
    EXPECT_FALSE(Tunnel::around(frame, 0xffff)) << tunnel.name;
  }
}

// A packet ends where its own IP header says. A trailer may follow.
TEST(Tunnel, IsReadToTheEndOfTheOuterPacket) {
  for (const TunnelFrame& tunnel : {kVxlan, kGre, kIpip}) {
    auto frame = in(tunnel);
    frame.resize(frame.size() + 4);
    EXPECT_TRUE(is_found(tunnel, frame)) << tunnel.name;
    for (std::size_t size = 0; size < frame.size() - 4; size += size < 200 ? 1 : 97) {
      const std::vector<std::byte> front(frame.begin(),
                                         frame.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(is_found(tunnel, front)) << tunnel.name << size;
    }
  }
}

TEST(Tunnel, HeadersThatContradictEachOtherAreNone) {
  for (const TunnelFrame& tunnel : {kVxlan, kGre, kIpip}) {
    const auto frame = in(tunnel);
    ASSERT_TRUE(is_found(tunnel, frame)) << tunnel.name;
    for (const int step : {-1, 1}) {
      // The frame has room for one octet more.
      auto outer = frame;
      outer.resize(outer.size() + 1);
      change_outer(outer, 2,
                   static_cast<std::uint16_t>(static_cast<int>(frame.size()) - 14 + step));
      EXPECT_FALSE(is_found(tunnel, outer)) << tunnel.name << ": outer length " << step;
    }
    auto later = frame;
    change_outer(later, 6, 1);
    EXPECT_FALSE(is_found(tunnel, later)) << tunnel.name << ": a fragment";
    auto damaged = frame;
    damaged[20] ^= std::byte{1};
    EXPECT_FALSE(is_found(tunnel, damaged)) << tunnel.name << ": outer checksum";
    damaged = frame;
    damaged[transport_in(tunnel) - 1] ^= std::byte{1};
    EXPECT_FALSE(is_found(tunnel, damaged)) << tunnel.name << ": inner checksum";
  }
  for (const int step : {-1, 1}) {
    auto udp = in(kVxlan);
    store_u16(udp.data() + 38, static_cast<std::uint16_t>(load_u16(udp.data() + 38) + step));
    EXPECT_FALSE(is_found(kVxlan, udp)) << "UDP's length " << step;
  }
  const LargeFrame six{.is_v4 = false, .payload = 5000};
  EXPECT_FALSE(Tunnel::around(in(kIpip, six), 74)) << "another version than it says";
}

TEST(Tunnel, FlagsOfUnknownMeaningAreNone) {
  EXPECT_TRUE(is_found_with_header(kVxlan, "08000000 00000500"));
  EXPECT_FALSE(is_found_with_header(kVxlan, "00000000 00000500")) << "VXLAN without a network";
  EXPECT_FALSE(is_found_with_header(kVxlan, "08200000 00000500")) << "a checksum left to the end";
  EXPECT_FALSE(is_found_with_header(kVxlan, "0c000003 00000500")) << "another protocol within";
  EXPECT_FALSE(is_found_with_header(kVxlan, "40006558 00000700")) << "Geneve of version 1";
  EXPECT_FALSE(is_found_with_header(kVxlan, "00806558 00000700")) << "a control message";
  EXPECT_FALSE(is_found_with_header(kVxlan, "3f006558 00000700")) << "options that end elsewhere";
  TunnelFrame gue = kIpip;
  gue.udp = TunnelFrame::Udp::kWithoutChecksum;
  gue.protocol = kProtocolUdp;
  EXPECT_TRUE(is_found_with_header(gue, "00040000"));
  EXPECT_FALSE(is_found_with_header(gue, "20040000")) << "a control message";
  EXPECT_FALSE(is_found_with_header(gue, "80040000")) << "GUE of version 2";
  EXPECT_FALSE(is_found_with_header(gue, "01040001 00000000")) << "a private flag";
  EXPECT_FALSE(is_found_with_header(gue, "00060000")) << "TCP, not IP";
  EXPECT_TRUE(is_found_with_header(kGre, "00000800"));
  EXPECT_FALSE(is_found_with_header(kGre, "40000800")) << "routing";
  EXPECT_FALSE(is_found_with_header(kGre, "00010800")) << "version 1";
  EXPECT_FALSE(is_found_with_header(kGre, "000088be")) << "ERSPAN";
  EXPECT_FALSE(is_found_with_header(kGre, "000086dd")) << "the other version";
}

TEST(Tunnel, AnotherLevelIsNone) {
  const auto twice = kGre.around(in(kIpip), 0, Checksums::kLeft);
  EXPECT_FALSE(Tunnel::around(twice, kGre.headers() + transport_in(kIpip) - 14));
  const auto vxlan = kVxlan.around(in(kVxlan), 0, Checksums::kLeft);
  EXPECT_FALSE(Tunnel::around(vxlan, kVxlan.headers() + transport_in(kVxlan)));
}

TEST(Tunnel, GivesAPieceHeadersOfItsOwn) {
  for (const TunnelFrame& tunnel : tunnel_frames()) {
    const bool is_v4 = tunnel.carries != TunnelFrame::Carries::kIpv6;
    const LargeFrame large{.is_v4 = is_v4, .payload = 5000};
    const auto frame = in(tunnel, large);
    const std::size_t inner_at =
        tunnel.headers() + (tunnel.carries == TunnelFrame::Carries::kEthernet ? 14 : 0);
    const auto found = Tunnel::around(frame, inner_at + (is_v4 ? 20 : 40));
    ASSERT_TRUE(found) << tunnel.name;
    for (const std::size_t payload : {std::size_t{1001}, std::size_t{1000}}) {
      const auto inner = LargeFrame{.is_v4 = is_v4, .payload = payload}.write();
      const auto expected = tunnel.around(inner, 3, Checksums::kComplete);
      auto piece = expected;
      std::copy_n(frame.begin(), inner_at, piece.begin());
      found->fit_headers(piece, 3);
      EXPECT_EQ(piece, expected) << tunnel.name;
    }
  }
}

}  // namespace
}  // namespace satrelay::wire::tunnel_test
