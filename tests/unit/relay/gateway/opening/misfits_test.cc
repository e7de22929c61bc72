// Connections that both gateways have forgotten: their numbers do not fit, and only theirs.
#include "relay/gateway/opening/misfits.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::misfits_test {
namespace {

using Flags = wire::TcpFlags;

class MisfitsTest : public testing::Test {
 protected:
  struct Segment {
    std::uint32_t sequence = 0;
    std::uint32_t acknowledgment = 0;
    std::size_t payload = 0;
    std::uint8_t flags = Flags::kAck;
  };
  static FrameBytes bytes_of(const Segment& segment) {
    wire::TcpHeader header;
    header.sequence = segment.sequence;
    header.acknowledgment = segment.acknowledgment;
    header.flags = segment.flags;
    FrameBytes bytes(wire::tcp_header_size(header) + segment.payload);
    wire::write_tcp(header, bytes);
    return bytes;
  }
  void lan(const Segment& segment) { misfits_.look_from_lan(key_, from_, bytes_of(segment)); }
  void wan(const Segment& segment) { misfits_.look_from_wan(key_, bytes_of(segment)); }
  std::optional<wire::TcpHeader> poll() {
    std::array<std::byte, 128> buffer{};
    const std::size_t size = misfits_.poll_frame(buffer);
    if (size == 0) return std::nullopt;
    const Frame frame = look_at(ConstBytes(buffer).first(size));
    EXPECT_EQ(frame.ethernet.destination, kHostMac);
    const auto tcp = wire::parse_tcp(frame.payload);
    if (frame.kind != FrameKind::kTcp || !tcp) return std::nullopt;
    return tcp->header;
  }
  const FlowKey key_{ip_of("203.0.113.5"), ip_of("198.51.100.5"), 40'000, 80, {}};
  static wire::EthernetHeader from_host() {
    wire::EthernetHeader ethernet = host_to_server();
    ethernet.type = wire::EtherType::kIpv4;
    return ethernet;
  }
  const wire::EthernetHeader from_ = from_host();
  Counters counters_;
  Misfits misfits_{HashKey{1, 2}, counters_};
};

TEST_F(MisfitsTest, AHostWhoseDataIsAnsweredBesideThePointIsReset) {
  for (int i = 0; i < 2; ++i) {
    lan({.sequence = 1'000, .acknowledgment = 5'000, .payload = 100});
    wan({.sequence = 7'000'000, .acknowledgment = 1'000'000'000});
    EXPECT_FALSE(poll());
  }
  lan({.sequence = 1'000, .acknowledgment = 5'000, .payload = 100});
  wan({.sequence = 7'000'000, .acknowledgment = 1'000'000'000});
  const auto reset = poll();
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->flags, Flags::kRst);
  EXPECT_EQ(reset->sequence, 5'000U) << "what the host expects next";
  EXPECT_EQ(counters_[Counter::kMisfitsReset], 1U);
  EXPECT_FALSE(poll());
}

TEST_F(MisfitsTest, SoIsTheHostThatAnswersBesideThePoint) {
  for (int i = 0; i < 3; ++i) {
    wan({.sequence = 1'000, .acknowledgment = 5'000, .payload = 100});
    lan({.sequence = 7'000'000, .acknowledgment = 4'000'000'000});
  }
  const auto reset = poll();
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->sequence, 4'000'000'000U);
}

TEST_F(MisfitsTest, NoProgressIsNoMisfit) {
  // The same segment is lost again and again; the acknowledgment is of what comes before it.
  for (int i = 0; i < 20; ++i) {
    lan({.sequence = 0xffff'ff00U, .acknowledgment = 5'000, .payload = 1'000});
    wan({.sequence = 5'000, .acknowledgment = 0xffff'ff00U});
  }
  EXPECT_FALSE(poll());
}

TEST_F(MisfitsTest, NeitherIsAWindowOfAGigabyte) {
  std::uint32_t sequence = 1'000'000'000;
  for (int i = 0; i < 1'000; ++i) {
    lan({.sequence = sequence, .acknowledgment = 5'000, .payload = 1'000});
    wan({.sequence = 5'000, .acknowledgment = sequence - 900'000'000});
    sequence += 1'000;
  }
  EXPECT_FALSE(poll());
}

TEST_F(MisfitsTest, ARepetitionWithoutAnAnswerCountsForNothing) {
  for (int i = 0; i < 20; ++i) lan({.sequence = 1'000, .acknowledgment = 5'000, .payload = 100});
  wan({.sequence = 7'000'000, .acknowledgment = 1'000'000'000});
  for (int i = 0; i < 20; ++i) wan({.sequence = 7'000'000, .acknowledgment = 1'000'000'000});
  EXPECT_FALSE(poll()) << "old ACKs that come late";
}

TEST_F(MisfitsTest, ANewConnectionIsNotTakenForTheOldOne) {
  for (int i = 0; i < 2; ++i) {
    lan({.sequence = 1'000, .acknowledgment = 5'000, .payload = 100});
    wan({.sequence = 7'000'000, .acknowledgment = 1'000'000'000});
  }
  lan({.sequence = 999, .flags = Flags::kSyn});
  lan({.sequence = 1'000, .acknowledgment = 5'000, .payload = 100});
  wan({.sequence = 7'000'000, .acknowledgment = 1'000'000'000});
  EXPECT_FALSE(poll());
}

}  // namespace
}  // namespace satrelay::gateway::misfits_test
