// SYN cookies: the SYN-ACK itself holds all that must be known of the SYN.
#include "relay/gateway/opening/syn_cookies.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "pep/tcp/ecn.h"
#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::syn_cookies_test {
namespace {

using Flags = wire::TcpFlags;

class SynCookiesTest : public testing::Test {
 protected:
  SynCookiesTest() {
    to_host_.source = kGatewayMac;
    to_host_.destination = kPeerMac;
    to_host_.type = wire::EtherType::kIpv4;
    config_.mss = 1460;
    config_.timestamp_offset = 0xffff'fff0;  // wraps during the tests
    config_.window_scale = 7;
  }
  wire::TcpHeader syn(wire::TcpOptions options, std::uint8_t flags = Flags::kSyn) const {
    wire::TcpHeader header;
    header.sequence = 0xffff'ffff;
    header.flags = flags;
    header.options = options;
    return header;
  }
  std::optional<wire::TcpHeader> poll() {
    const std::size_t size = cookies_.poll_frame(buffer_);
    if (size == 0) return std::nullopt;
    const Frame frame = look_at(ConstBytes(buffer_).first(size));
    const auto tcp = wire::parse_tcp(frame.payload);
    if (!tcp) return std::nullopt;
    EXPECT_TRUE(wire::transport_checksum_ok(frame.ip.source, frame.ip.destination,
                                            frame.ip.protocol, frame.payload));
    return tcp->header;
  }
  wire::TcpHeader answer(const wire::TcpHeader& header) {
    cookies_.answer(key_, to_host_, header, config_, now_);
    return poll().value_or(wire::TcpHeader());
  }
  // The client's next segment.
  wire::TcpHeader ack(const wire::TcpHeader& syn_ack) const {
    wire::TcpHeader header;
    header.sequence = syn_ack.acknowledgment;
    header.acknowledgment = syn_ack.sequence + 1;
    header.flags = Flags::kAck;
    header.window = 502;
    if (syn_ack.options.timestamps) {
      header.options.timestamps = {77, syn_ack.options.timestamps->value};
    }
    return header;
  }
  const FlowKey key_{ip_of("203.0.113.5"), ip_of("198.51.100.5"), 40'000, 80, {}};
  wire::EthernetHeader to_host_;
  tcp::Config config_;
  Counters counters_;
  SynCookies cookies_{HashKey{1, 2}, counters_};
  Instant now_ = Instant() + Duration::seconds(1);
  std::array<std::byte, 128> buffer_{};
};

TEST_F(SynCookiesTest, GivesBackEveryOptionThatTheConnectionNeeds) {
  for (unsigned scale = 0; scale <= 15; ++scale) {
    for (const bool selective : {false, true}) {
      for (const bool ecn : {false, true}) {
        now_ += Duration::milliseconds(13);
        wire::TcpOptions options;
        options.mss = 1460;
        if (scale < 15) options.window_scale = static_cast<std::uint8_t>(scale);
        options.sack_permitted = selective;
        options.timestamps = {5, 0};
        const std::uint8_t flags = ecn ? Flags::kSyn | tcp::Ecn::kSetup : Flags::kSyn;
        const wire::TcpHeader syn_ack = answer(syn(options, flags));
        EXPECT_EQ(syn_ack.acknowledgment, 0U);
        EXPECT_EQ(syn_ack.flags, Flags::kSyn | Flags::kAck | (ecn ? Flags::kEce : 0));
        EXPECT_EQ(syn_ack.options.window_scale.has_value(), scale < 15);
        EXPECT_EQ(syn_ack.options.sack_permitted, selective);
        EXPECT_EQ(syn_ack.options.timestamps->echo_reply, 5U);

        const auto found = cookies_.recover(key_, ack(syn_ack), now_);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->sequence, 0xffff'ffffU);
        EXPECT_EQ(found->flags, flags);
        options.timestamps = {77, 0};
        EXPECT_EQ(found->options, options);
      }
    }
  }
}

TEST_F(SynCookiesTest, TimestampsNeverRunAhead) {
  wire::TcpOptions options;
  options.timestamps = {5, 0};
  for (int i = 0; i < 300; ++i) {
    now_ += Duration::milliseconds(1);
    const std::uint32_t clock = tcp::Timestamps(config_.timestamp_offset).value(now_);
    const std::uint32_t behind = clock - answer(syn(options)).options.timestamps->value;
    EXPECT_LE(behind, 127U);
  }
}

TEST_F(SynCookiesTest, TheSizeIsTheLargestKnownOneThatFits) {
  const auto told = [&](std::optional<std::uint16_t> mss) {
    wire::TcpOptions options;
    options.mss = mss;
    return cookies_.recover(key_, ack(answer(syn(options))), now_)->options.mss;
  };
  EXPECT_EQ(told(1460), 1460);
  EXPECT_EQ(told(1459), 1440);
  EXPECT_EQ(told(8960), 8940);
  EXPECT_EQ(told(100), 536);
  EXPECT_EQ(told(std::nullopt), 536);
}

TEST_F(SynCookiesTest, WithoutTimestampsThereIsNoOtherOption) {
  wire::TcpOptions options;
  options.mss = 1460;
  options.window_scale = 7;
  options.sack_permitted = true;
  const wire::TcpHeader syn_ack = answer(syn(options, Flags::kSyn | tcp::Ecn::kSetup));
  EXPECT_EQ(syn_ack.flags, Flags::kSyn | Flags::kAck);
  wire::TcpOptions expected;
  expected.mss = 1460;
  EXPECT_EQ(syn_ack.options, expected);
  EXPECT_EQ(cookies_.recover(key_, ack(syn_ack), now_)->options, expected);
}

TEST_F(SynCookiesTest, WhatAnswersNoCookieIsNotTaken) {
  const wire::TcpHeader good = ack(answer(syn({})));
  ASSERT_TRUE(cookies_.recover(key_, good, now_));
  wire::TcpHeader other = good;
  other.acknowledgment += 8;
  EXPECT_FALSE(cookies_.recover(key_, other, now_));
  other = good;
  other.sequence += 1;
  EXPECT_FALSE(cookies_.recover(key_, other, now_));
  for (const std::uint8_t flags : {Flags::kRst, Flags::kSyn}) {
    other = good;
    other.flags = static_cast<std::uint8_t>(other.flags | flags);
    EXPECT_FALSE(cookies_.recover(key_, other, now_));
  }
  other = good;
  other.flags = Flags::kPsh;
  EXPECT_FALSE(cookies_.recover(key_, other, now_));
  FlowKey neighbour = key_;
  ++neighbour.local_port;
  EXPECT_FALSE(cookies_.recover(neighbour, good, now_));
  EXPECT_FALSE(SynCookies(HashKey{1, 2}, counters_).recover(key_, good, now_))
      << "has sent no cookie";
}

TEST_F(SynCookiesTest, ACookieHoldsForAMinuteAndNotForThree) {
  const wire::TcpHeader good = ack(answer(syn({})));
  const Instant sent = now_;
  EXPECT_TRUE(cookies_.recover(key_, good, sent + Duration::seconds(64)));
  now_ = sent + Duration::seconds(190);
  answer(syn({}));
  EXPECT_FALSE(cookies_.recover(key_, good, sent + Duration::seconds(190)));
}

TEST_F(SynCookiesTest, MoreThanCanLeaveAreDroppedAndCounted) {
  for (std::size_t i = 0; i < SynCookies::kMostWaiting + 5; ++i) {
    cookies_.answer(key_, to_host_, syn({}), config_, now_);
  }
  EXPECT_EQ(counters_[Counter::kSynCookiesSent], SynCookies::kMostWaiting);
  EXPECT_EQ(counters_[Counter::kDroppedSynFlood], 5U);
  std::size_t polled = 0;
  while (poll()) ++polled;
  EXPECT_EQ(polled, SynCookies::kMostWaiting);
  EXPECT_FALSE(cookies_.has_frames());
}

class FloodedGateway : public GatewayTest {
 protected:
  void flood() {
    start_peer();
    for (std::uint16_t i = 0; i < config_a_.limits.half_open / 2; ++i) {
      lan(tcp_frame(kClient, kServer, syn(static_cast<std::uint16_t>(50'000 + i))));
    }
    while (next_frame(PortId::kLan)) continue;
  }
  wire::TcpHeader ack_to(const FrameBytes& frame) {
    const Frame seen = look_at(frame);
    const wire::TcpHeader syn_ack = wire::parse_tcp(seen.payload)->header;
    wire::TcpHeader ack;
    ack.source_port = syn_ack.destination_port;
    ack.destination_port = syn_ack.source_port;
    ack.sequence = syn_ack.acknowledgment;
    ack.acknowledgment = syn_ack.sequence + 1;
    ack.flags = wire::TcpFlags::kAck;
    ack.window = 64240;
    return ack;
  }
};

TEST_F(FloodedGateway, AConnectionBeginsWithTheAckThatBringsTheCookieBack) {
  flood();
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  EXPECT_EQ(a_->flow_count(), 3U) << "no state";
  const auto syn_ack = next_frame(PortId::kLan);
  ASSERT_TRUE(syn_ack);
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, ack_to(*syn_ack))), Verdict::kConsumed);
  EXPECT_EQ(a_->flow_count(), 4U);
  EXPECT_EQ(count(Counter::kFlowsBySynCookie), 1U);
  EXPECT_EQ(count(Counter::kFlowsEstablished), 1U);
  EXPECT_EQ(count(Counter::kBridgedHalfOpenFull), 0U);
}

TEST_F(FloodedGateway, DataThatComesWithoutItsAckBeginsItToo) {
  flood();
  lan(tcp_frame(kClient, kServer, syn()));
  const auto syn_ack = next_frame(PortId::kLan);
  ASSERT_TRUE(syn_ack);
  lan(tcp_frame(kClient, kServer, ack_to(*syn_ack), host_to_server(), "GET / HTTP/1.0"));
  ASSERT_EQ(a_->flow_count(), 4U);
  const auto flows = a_->flows(0, 4, now_);
  EXPECT_TRUE(std::ranges::any_of(
      flows, [](const FlowSnapshot& flow) { return flow.bytes_from_lan + flow.lan_stored == 14; }));
}

// The far host does not know the connection, and would answer with RST.
TEST_F(FloodedGateway, WhatFollowsALostAckIsNotBridged) {
  flood();
  lan(tcp_frame(kClient, kServer, syn()));
  const auto syn_ack = next_frame(PortId::kLan);
  ASSERT_TRUE(syn_ack);
  wire::TcpHeader second = ack_to(*syn_ack);
  second.sequence += 14;  // the first bytes have not arrived, nor the ACK with them
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, second, host_to_server(), "more")), Verdict::kDrop);
  EXPECT_EQ(count(Counter::kDroppedAfterCookie), 1U);
  lan(tcp_frame(kClient, kServer, ack_to(*syn_ack), host_to_server(), "GET / HTTP/1.0"));
  EXPECT_EQ(a_->flow_count(), 4U);
  // A number that we have not sent tells nothing. Nor does ours, long afterwards.
  second.source_port = 51'000;
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, second, host_to_server(), "more")), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kDroppedAfterCookie), 1U);
}

TEST_F(FloodedGateway, WithAFullTableItBridges) {
  config_a_.limits.flows = 2;
  a_ = std::make_unique<Gateway>(
      config_a_, Identity{.boot_epoch = 1, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
      now_);
  start_peer();
  EXPECT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
  EXPECT_EQ(lan(tcp_frame("203.0.113.77", kServer, syn())), Verdict::kConsumed);
  EXPECT_EQ(lan(tcp_frame("203.0.113.78", kServer, syn())), Verdict::kBridge);
  EXPECT_EQ(count(Counter::kBridgedTableFull), 1U);
}

}  // namespace
}  // namespace satrelay::gateway::syn_cookies_test
