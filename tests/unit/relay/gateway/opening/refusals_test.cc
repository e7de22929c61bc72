// Which segments are answered with RST, and with which numbers.
#include "relay/gateway/opening/refusals.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::refusals_test {
namespace {

using Flags = wire::TcpFlags;
constexpr auto kHost = "203.0.113.5";
constexpr auto kServer = "198.51.100.5";

class RefusalsTest : public testing::Test {
 protected:
  static wire::TcpHeader segment(std::uint8_t flags) {
    wire::TcpHeader tcp;
    tcp.source_port = 40'000;
    tcp.destination_port = 80;
    tcp.sequence = 1'000;
    tcp.acknowledgment = 7'000;
    tcp.flags = flags;
    return tcp;
  }
  void refuse(const wire::TcpHeader& tcp, std::size_t payload = 0, std::string_view to = kServer,
              const wire::EthernetHeader& ethernet = host_to_server()) {
    const FrameBytes frame = tcp_frame(kHost, to, tcp, ethernet);
    refusals_.refuse(PortId::kLan, look_at(frame), tcp, payload);
  }
  std::optional<wire::TcpHeader> poll(PortId port = PortId::kLan) {
    const std::size_t size = refusals_.poll_frame(port, out_);
    if (size == 0) return std::nullopt;
    seen_ = look_at(ConstBytes(out_).first(size));
    return wire::parse_tcp(seen_.payload)->header;
  }
  Refusals refusals_;
  FrameBytes out_ = FrameBytes(128);
  Frame seen_;
};

TEST_F(RefusalsTest, ASynIsAnsweredAsIfNobodyListened) {
  refuse(segment(Flags::kSyn));
  const auto reset = poll();
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->flags, Flags::kRst | Flags::kAck);
  EXPECT_EQ(reset->sequence, 0U);
  EXPECT_EQ(reset->acknowledgment, 1'001U) << "the SYN counts";
  EXPECT_EQ(reset->source_port, 80);
  EXPECT_EQ(reset->destination_port, 40'000);
  EXPECT_EQ(seen_.ethernet.destination, kHostMac);
  EXPECT_EQ(seen_.ethernet.source, kServerMac);
  EXPECT_EQ(seen_.ip.source, ip_of(kServer));
  EXPECT_EQ(seen_.ip.destination, ip_of(kHost));
  EXPECT_FALSE(poll()) << "once";
}

TEST_F(RefusalsTest, WhatAcknowledgesIsAnsweredWithThatNumber) {
  refuse(segment(Flags::kAck), 100);
  const auto reset = poll();
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->flags, Flags::kRst);
  EXPECT_EQ(reset->sequence, 7'000U);
}

TEST_F(RefusalsTest, PayloadAndFinCountWhereNothingIsAcknowledged) {
  refuse(segment(Flags::kFin), 100);
  const auto reset = poll();
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->acknowledgment, 1'101U);
}

TEST_F(RefusalsTest, AResetAndWhatWasForManyAreNotAnswered) {
  refuse(segment(Flags::kRst | Flags::kAck));
  refuse(segment(Flags::kSyn), 0, "224.0.0.1");
  wire::EthernetHeader broadcast = host_to_server();
  broadcast.destination = MacAddress::broadcast();
  refuse(segment(Flags::kSyn), 0, kServer, broadcast);
  EXPECT_FALSE(poll());
  EXPECT_TRUE(refusals_.next_timeout().is_never());
}

TEST_F(RefusalsTest, EachPortHasItsOwnAndNoMoreThanABurst) {
  for (int i = 0; i < 1'000; ++i) refuse(segment(Flags::kSyn));
  EXPECT_EQ(refusals_.next_timeout(), Instant());
  EXPECT_TRUE(refusals_.empty(PortId::kWan));
  EXPECT_FALSE(poll(PortId::kWan));
  int answered = 0;
  while (poll()) ++answered;
  EXPECT_EQ(answered, 64);
}

TEST_F(RefusalsTest, WhatIsForTheWanWaitsForTheLink) {
  const Frame frame = look_at(tcp_frame(kServer, "203.0.113.5", segment(Flags::kSyn)));
  EXPECT_TRUE(refusals_.answers(PortId::kWan, frame, segment(Flags::kSyn)));
  refusals_.refuse(PortId::kWan, frame, segment(Flags::kSyn), 0);
  EXPECT_FALSE(refusals_.empty(PortId::kWan));
  EXPECT_TRUE(refusals_.next_timeout().is_never());
  EXPECT_FALSE(refusals_.answers(PortId::kWan, frame, segment(Flags::kRst)));
}

}  // namespace
}  // namespace satrelay::gateway::refusals_test
