// Frames as a packet socket delivers them, sent through a pair of local sockets.
#include "relay/dpdk/socket/socket_receiver.h"

#include <sys/socket.h>

#include <string>
#include <vector>

#include "relay/dpdk/socket/finish_checksum.h"
#include "tests/unit/pep/wire/large_frame.h"
#include "tests/unit/pep/wire/tunnel_frame.h"
#include "tests/unit/relay/dpdk/device/packet_fixture.h"

namespace satrelay::dpdk::socket_receiver_test {
namespace {

using wire::LargeFrame;
constexpr std::uint16_t kMss = 1448;

class SocketReceiverTest : public PacketTest {
 protected:
  void SetUp() override {
    pool();
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends_), 0);
    const int large = 4 << 20;
    ::setsockopt(ends_[0], SOL_SOCKET, SO_SNDBUF, &large, sizeof large);
    receiver_.emplace(ends_[1], pool(), 1500);
  }
  void TearDown() override {
    receiver_.reset();
    for (const int end : ends_) ::close(end);
  }
  bool arrive(const OffloadHeader& head, ConstBytes frame) {
    iovec parts[2] = {{const_cast<OffloadHeader*>(&head), sizeof head},
                      {const_cast<std::byte*>(frame.data()), frame.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    return ::sendmsg(ends_[0], &message, 0) >= 0;
  }
  // Receives all that has arrived, burst by burst.
  std::vector<Packet> receive() {
    std::vector<Packet> all;
    Burst burst;
    while (receiver_->receive(burst) > 0) {
      while (!burst.empty()) all.push_back(burst.pop());
    }
    return all;
  }
  static OffloadHeader tcp_head(std::uint16_t transport, std::uint16_t segment = kMss) {
    return {.flags = OffloadHeader::kNeedsChecksum,
            .kind = OffloadHeader::kTcpV4,
            .segment_size = segment,
            .checksum_start = transport,
            .checksum_offset = 16};
  }
  const SocketReceiver::Counters& counters() const { return receiver_->counters(); }

  int ends_[2] = {-1, -1};
  std::optional<SocketReceiver> receiver_;
};

TEST_F(SocketReceiverTest, FramesOfOneSizeComeAsTheyAre) {
  const auto frame = wire::exact_copy(LargeFrame{.payload = 1000}.write());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(arrive({}, frame));
  const auto all = receive();
  ASSERT_EQ(all.size(), 100U);
  for (const Packet& packet : all) {
    EXPECT_TRUE(std::ranges::equal(packet.bytes(), frame));
  }
  EXPECT_EQ(counters().frames, 100U);
  EXPECT_EQ(counters().bytes, 100U * frame.size());
}

TEST_F(SocketReceiverTest, ALargeFrameFillsSeveralBursts) {
  const auto frame = LargeFrame{.payload = 44 * kMss + 5}.write();
  ASSERT_TRUE(arrive(tcp_head(34), frame));
  ASSERT_TRUE(arrive({}, ConstBytes(frame).first(60)));
  Burst burst;
  EXPECT_EQ(receiver_->receive(burst), 32U);
  EXPECT_EQ(receiver_->receive(burst), 0U) << "a full burst takes nothing";
  burst.clear();
  EXPECT_EQ(receiver_->receive(burst), 14U) << "the rest, and what came behind";
  EXPECT_EQ(counters().large, 1U);
  EXPECT_EQ(counters().frames, 46U);
  EXPECT_FALSE(burst.peek(0).is_own());
  EXPECT_TRUE(burst.peek(0).is_checked());
  EXPECT_FALSE(burst.peek(13).is_checked());
}

TEST_F(SocketReceiverTest, EvenALargeFrameThatFitsIsCut) {
  ASSERT_TRUE(arrive(tcp_head(34, 100), LargeFrame{.payload = 250}.write()));
  EXPECT_EQ(receive().size(), 3U);
}

TEST_F(SocketReceiverTest, CompletesChecksums) {
  const auto frame = LargeFrame{.payload = 500}.write();
  OffloadHeader head = tcp_head(34, 0);
  head.kind = OffloadHeader::kNotLarge;
  ASSERT_TRUE(arrive(head, frame));
  const auto all = receive();
  ASSERT_EQ(all.size(), 1U);
  const auto ip = wire::parse_ip(all[0].bytes().subspan(14));
  EXPECT_TRUE(
      wire::transport_checksum_ok(ip->source, ip->destination, 6, all[0].bytes().subspan(34)));
  EXPECT_EQ(counters().checksums_finished, 1U);
}

TEST_F(SocketReceiverTest, CountsWhatItCannotCut) {
  // A UDP frame that is too long, and one with pieces that would be too long.
  ASSERT_TRUE(arrive({}, LargeFrame{.is_tcp = false, .payload = 3000}.write()));
  OffloadHeader udp = tcp_head(34, 3000);
  udp.kind = OffloadHeader::kUdp;
  ASSERT_TRUE(arrive(udp, LargeFrame{.is_tcp = false, .payload = 9000}.write()));
  // In a tunnel: the head asks for another checksum.
  ASSERT_TRUE(arrive(tcp_head(84), LargeFrame{.payload = 9000}.write()));
  // A kind without a name here, and a kind without a segment size.
  OffloadHeader unknown = tcp_head(34);
  unknown.kind = 3;
  ASSERT_TRUE(arrive(unknown, LargeFrame{.payload = 9000}.write()));
  ASSERT_TRUE(arrive(tcp_head(34, 0), LargeFrame{.payload = 9000}.write()));
  // Longer than any IP packet.
  ASSERT_TRUE(arrive({}, std::vector<std::byte>(100'000)));
  // Shorter than our own header, and shorter than Ethernet's.
  ASSERT_EQ(::send(ends_[0], "x", 1, 0), 1);
  ASSERT_TRUE(arrive({}, std::vector<std::byte>(13)));
  EXPECT_EQ(receive().size(), 0U);
  EXPECT_EQ(counters().uncut, 8U);
  ASSERT_TRUE(arrive(tcp_head(34), LargeFrame{.payload = 9000}.write()));
  EXPECT_EQ(receive().size(), 7U) << "what follows is not harmed";
}

// A frame as a host with a larger MTU sends it: whole, with its checksum.
std::vector<std::byte> finished(LargeFrame large) {
  auto frame = large.write();
  EXPECT_TRUE(finish_checksum(frame));
  return frame;
}

TEST_F(SocketReceiverTest, ATcpSegmentThatIsTooLongIsCutToFit) {
  for (const bool is_v4 : {true, false}) {
    for (std::uint8_t tags = 0; tags <= 2; ++tags) {
      const LargeFrame large{.is_v4 = is_v4, .tags = tags, .payload = 8948};
      ASSERT_TRUE(arrive({}, finished(large)));
      const auto all = receive();
      ASSERT_EQ(all.size(), 7U) << is_v4 << int{tags};
      const std::size_t ip_at = 14U + 4U * tags;
      std::size_t payload = 0;
      for (const Packet& packet : all) {
        const auto ip = wire::parse_ip(packet.bytes().subspan(ip_at));
        ASSERT_TRUE(ip);
        const ConstBytes segment = packet.bytes().subspan(ip_at + ip->header_size);
        EXPECT_LE(ip->header_size + segment.size(), 1500U) << "its IP packet fits the MTU";
        EXPECT_TRUE(wire::transport_checksum_ok(ip->source, ip->destination, 6, segment));
        const auto tcp = wire::parse_tcp(segment);
        EXPECT_EQ(tcp->header.sequence, large.sequence + static_cast<std::uint32_t>(payload));
        payload += segment.size() - tcp->header_size;
      }
      EXPECT_EQ(payload, large.payload);
    }
  }
  EXPECT_EQ(counters().oversized, 6U);
  EXPECT_EQ(counters().large, 6U);
  EXPECT_EQ(counters().uncut, 0U);
}

TEST_F(SocketReceiverTest, PiecesThatWouldBeTooLongAreCutToFit) {
  ASSERT_TRUE(arrive(tcp_head(34, 3000), LargeFrame{.payload = 9000}.write()));
  const auto all = receive();
  ASSERT_EQ(all.size(), 7U);
  EXPECT_EQ(all[0].size(), 1514U);
  EXPECT_EQ(counters().oversized, 1U);
}

TEST_F(SocketReceiverTest, ATagThatIsNotThereIsNoRoomForPayload) {
  // IP packets of MTU + 8, MTU + 4 and MTU + 4 octets. As frames they are no longer than two tags
  // allow.
  for (const std::uint8_t tags : {std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{1}}) {
    const std::size_t payload = counters().oversized == 0 ? 1456 : 1452;
    ASSERT_TRUE(arrive({}, finished({.tags = tags, .payload = payload})));
    const auto all = receive();
    ASSERT_EQ(all.size(), 2U) << int{tags};
    EXPECT_EQ(all[0].size(), 1514U + 4U * tags);
  }
  EXPECT_EQ(counters().oversized, 3U);
  ASSERT_TRUE(arrive(tcp_head(34, 1452), LargeFrame{.payload = 2904}.write()));
  EXPECT_EQ(receive().size(), 3U) << "so are pieces";
  EXPECT_EQ(counters().oversized, 4U);
}

TEST_F(SocketReceiverTest, WhatCannotBeCutHasTheRoomOfTwoTags) {
  const auto datagram = finished({.is_tcp = false, .payload = 1480});
  auto damaged = finished({.payload = 1456});
  damaged.back() ^= std::byte{1};
  auto padded = finished({.payload = 1440});
  padded.resize(1520);
  for (const auto& frame : {datagram, damaged, padded}) {
    ASSERT_TRUE(arrive({}, frame));
    const auto all = receive();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_TRUE(std::ranges::equal(all[0].bytes(), frame));
  }
  EXPECT_EQ(counters().large, 0U);
  EXPECT_EQ(counters().uncut, 0U);
}

TEST_F(SocketReceiverTest, HeadersThatLeaveLittleRoomMakeNoFloodOfPieces) {
  // Destination options of 1,424 octets leave four octets of the MTU.
  std::string options = "06 b1";
  for (int i = 2; i < 1424; ++i) options += " 00";
  OffloadHeader left = tcp_head(14 + 40 + 1424, 0);
  left.kind = OffloadHeader::kNotLarge;
  const LargeFrame large{
      .is_v4 = false, .payload = 7000, .extensions = options, .first_extension = 60};
  ASSERT_TRUE(arrive(left, large.write()));
  EXPECT_EQ(receive().size(), 0U);
  EXPECT_EQ(counters().uncut, 1U);
}

TEST_F(SocketReceiverTest, AChecksumThatIsLeftIsThatOfTheCutSegment) {
  OffloadHeader left = tcp_head(34, 0);
  left.kind = OffloadHeader::kNotLarge;
  ASSERT_TRUE(arrive(left, LargeFrame{.payload = 3000}.write()));
  EXPECT_EQ(receive().size(), 3U);
  left.checksum_start = 84;  // in a tunnel
  ASSERT_TRUE(arrive(left, LargeFrame{.payload = 3000}.write()));
  EXPECT_EQ(receive().size(), 0U);
}

TEST_F(SocketReceiverTest, WhatIsNoRunOfSoundBytesIsNotCutToFit) {
  auto damaged = finished({.payload = 3000});
  damaged.back() ^= std::byte{1};
  ASSERT_TRUE(arrive({}, damaged));
  for (const std::uint8_t flag :
       {wire::TcpFlags::kSyn, wire::TcpFlags::kRst, wire::TcpFlags::kUrg}) {
    ASSERT_TRUE(arrive({}, finished({.flags = flag, .payload = 3000})));
  }
  EXPECT_EQ(receive().size(), 0U);
  EXPECT_EQ(counters().uncut, 4U);
  EXPECT_EQ(counters().oversized, 0U);
}

TEST_F(SocketReceiverTest, AnEmptyPoolLosesNothing) {
  std::vector<Packet> all;
  while (Packet packet = pool().allocate()) all.push_back(std::move(packet));
  ASSERT_TRUE(arrive(tcp_head(34), LargeFrame{.payload = 10 * kMss}.write()));
  Burst burst;
  EXPECT_EQ(receiver_->receive(burst), 0U);
  EXPECT_EQ(counters().no_buffer, 1U);
  all.resize(all.size() - 5);  // one buffer holds the large frame itself
  EXPECT_EQ(receiver_->receive(burst), 0U) << "all five wait for frames";
  all.resize(all.size() - 64);
  std::size_t count = 0;
  for (int i = 0; i < 10; ++i) {
    count += receiver_->receive(burst);
    burst.clear();
  }
  EXPECT_EQ(count, 10U);
}

// `inner` (an Ethernet frame) behind an outer IPv4 header with `protocol`, and `between`.
std::vector<std::byte> in_tunnel(ConstBytes inner, std::uint8_t protocol, ConstBytes between) {
  wire::EthernetHeader ethernet;
  ethernet.type = wire::EtherType::kIpv4;
  wire::IpHeader ip;
  ip.source = IpAddress::v4({10, 8, 0, 1});
  ip.destination = IpAddress::v4({10, 8, 0, 2});
  ip.protocol = protocol;
  ip.payload_size = static_cast<std::uint16_t>(between.size() + inner.size());
  std::vector<std::byte> frame(34);
  wire::write_ethernet(ethernet, frame);
  wire::write_ip(ip, MutableBytes(frame).subspan(14));
  frame.insert(frame.end(), between.begin(), between.end());
  frame.insert(frame.end(), inner.begin(), inner.end());
  return frame;
}

// A VXLAN device on this machine. The outer checksum is 0, and the inner one is left to the card.
TEST_F(SocketReceiverTest, ALeftChecksumWithinAVxlanIsTheInnerOne) {
  const auto inner = LargeFrame{.payload = 500}.write();
  std::vector<std::byte> between(16);
  store_u16(between.data(), 50000);
  store_u16(between.data() + 2, 4789);
  store_u16(between.data() + 4, static_cast<std::uint16_t>(16 + inner.size()));
  store_u8(between.data() + 8, 8);
  const auto frame = in_tunnel(inner, 17, between);
  OffloadHeader head = tcp_head(static_cast<std::uint16_t>(50 + 34), 0);
  head.kind = OffloadHeader::kNotLarge;
  ASSERT_TRUE(arrive(head, frame));
  const auto all = receive();
  ASSERT_EQ(all.size(), 1U);
  const auto ip = wire::parse_ip(all[0].bytes().subspan(50 + 14));
  EXPECT_TRUE(
      wire::transport_checksum_ok(ip->source, ip->destination, 6, all[0].bytes().subspan(50 + 34)));
}

// As Linux 6.1 leaves it (measured): the head describes TCP and the inner checksum.
TEST_F(SocketReceiverTest, ALargeFrameInATunnelIsCut) {
  const wire::TunnelFrame vxlan = wire::tunnel_frames()[0];
  const auto frame = vxlan.around(LargeFrame{.payload = 30 * 1398}.write(), 0,
                                  wire::TunnelFrame::Checksums::kLeft);
  ASSERT_TRUE(arrive(tcp_head(84, 1398), frame));
  Burst burst;
  EXPECT_EQ(receiver_->receive(burst), 30U);
  while (!burst.empty()) {
    EXPECT_FALSE(burst.peek(0).is_checked()) << "the checksum of its own datagram is none";
    const Packet packet = burst.pop();
    EXPECT_EQ(packet.size(), 1514U);
    const auto inner = wire::parse_ip(packet.bytes().subspan(64));
    ASSERT_TRUE(inner);
    EXPECT_TRUE(wire::transport_checksum_ok(inner->source, inner->destination, 6,
                                            packet.bytes().subspan(84)));
  }
  EXPECT_EQ(counters().large, 1U);
  EXPECT_EQ(counters().oversized, 0U);
  EXPECT_EQ(counters().uncut, 0U);
}

TEST_F(SocketReceiverTest, CountsWhatItCannotCutInATunnel) {
  const wire::TunnelFrame vxlan = wire::tunnel_frames()[0];
  const auto frame =
      vxlan.around(LargeFrame{.payload = 9000}.write(), 0, wire::TunnelFrame::Checksums::kLeft);
  ASSERT_TRUE(arrive(tcp_head(84, 1407), frame));  // longer pieces than two tags allow
  ASSERT_TRUE(arrive(tcp_head(84, 0), frame));
  ASSERT_TRUE(arrive(tcp_head(84, 1), frame));  // 9,000 pieces
  ASSERT_TRUE(arrive(tcp_head(80, 1398), frame));
  ASSERT_TRUE(arrive(tcp_head(34, 1398), frame));
  ASSERT_TRUE(arrive(tcp_head(0xffff, 1398), frame));
  ASSERT_TRUE(arrive(tcp_head(84, 1398), ConstBytes(frame).first(frame.size() - 1)));
  ASSERT_TRUE(arrive(tcp_head(84, 1398), ConstBytes(frame).first(90)));
  OffloadHeader other = tcp_head(84, 1398);
  other.kind = OffloadHeader::kUdp;
  ASSERT_TRUE(arrive(other, frame));
  other = tcp_head(84, 1398);
  other.flags = 0;  // nothing tells where the tunnel's headers end
  ASSERT_TRUE(arrive(other, frame));
  EXPECT_EQ(receive().size(), 0U);
  EXPECT_EQ(counters().uncut, 10U);
  EXPECT_EQ(counters().large, 0U);
}

}  // namespace
}  // namespace satrelay::dpdk::socket_receiver_test
