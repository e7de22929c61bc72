// A session resets a stream at once. Its relay learns of it by an event, and one call handles only
// some events. In between, the relay may use a stream that no longer exists.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "tests/bench/world/crowd.h"
#include "tests/unit/relay/gateway/hub_fixture.h"

namespace satrelay::gateway::reset_before_event_test {
namespace {

using bench::Crowd;

class ResetBeforeEvent : public testing::Test {
 protected:
  // Resets flows with one packet of the peer. Returns how many.
  std::size_t reset_many() {
    const std::size_t reset = crowd_.say(
        0, kFlows,
        [](ByteWriter& frames, std::size_t i) {
          stp::write_reset(frames, {Crowd::stream(i), stp::ResetReason::kHostReset, 0});
        },
        stp::kMaxResetFrameSize);
    EXPECT_GT(reset, 100U);
    EXPECT_LT(crowd_.engine().counters()[Counter::kFlowsResetByPeer], reset) << "some wait";
    return reset;
  }
  void expect_all_reset(std::size_t reset) {
    crowd_.settle();
    EXPECT_EQ(crowd_.engine().counters()[Counter::kFlowsResetByPeer], reset);
  }
  static constexpr std::size_t kFlows = 300;
  Crowd crowd_{{.flows = kFlows}};
};

TEST_F(ResetBeforeEvent, TheHostsOfTheFlowsSpeak) {
  const std::size_t reset = reset_many();
  for (std::size_t i = 0; i < kFlows; ++i) crowd_.from_lan(crowd_.segment_of_server(i));
  expect_all_reset(reset);
}

TEST_F(ResetBeforeEvent, TheFlowsAreListed) {
  const std::size_t reset = reset_many();
  EXPECT_GE(crowd_.engine().flows(0, kFlows, crowd_.now()).size(), kFlows - 64);
  expect_all_reset(reset);
}

class OpenAndReset : public HubTest {
 protected:
  // A packet of the second terminal's session. Its number is far ahead of the packets before.
  void say(ConstBytes frames) {
    FrameBytes packet(stp::kHeaderSize + frames.size() + stp::kTrailerSize);
    std::ranges::copy(frames, packet.begin() + stp::kHeaderSize);
    const stp::SessionSeal seal(8, 1);
    stp::PacketHeader header;
    header.session_tag = seal.tag();
    header.number = 1'000;
    stp::write_header(header, packet.data());
    seal.close(packet);
    hub_->handle_frame(
        PortId::kWan,
        stp_frame(packet, {kPeerMac, kGatewayMac, config_.peers[1].address, config_.gateway.own}),
        now_);
  }
};

// The host has opened a connection. In one packet, its peer opens the same connection and resets
// it.
TEST_F(OpenAndReset, OfTheSameFourTuple) {
  EXPECT_EQ(lan(tcp_frame("203.0.113.5", "10.2.0.5", syn(3000))), Verdict::kConsumed);
  step();
  std::optional<wire::TcpHeader> answer;
  for (const FrameBytes& bytes : on_lan_) {
    const Frame frame = look_at(bytes);
    const auto tcp = wire::parse_tcp(frame.payload);
    if (frame.kind == FrameKind::kTcp && tcp) answer = tcp->header;
  }
  ASSERT_TRUE(answer);
  wire::TcpHeader ack = syn(3001);
  ack.acknowledgment = answer->sequence + 1;
  ack.flags = wire::TcpFlags::kAck;
  ack.options = {};
  EXPECT_EQ(lan(tcp_frame("203.0.113.5", "10.2.0.5", ack)), Verdict::kConsumed);
  for (int i = 0; i < 3; ++i) step();
  ASSERT_EQ(streams_[1].size(), 1U);
  OpenMetadata back = open_of("10.2.0.5", "203.0.113.5");
  back.client_port = 80;
  back.server_port = 40'000;
  std::array<std::byte, kMaxOpenMetadata> metadata{};
  const std::size_t size = write_open_metadata(back, metadata);
  FrameBytes frames(1'000);
  ByteWriter writer(frames);
  stp::write_open(writer, {101, ConstBytes(metadata).first(size)});
  constexpr std::uint64_t kFirstOfTheHub = 0;
  stp::write_reset(writer, {kFirstOfTheHub, stp::ResetReason::kHostReset, 0});
  say(ConstBytes(frames).first(writer.written()));
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(count(Counter::kFlowsOpenedByBoth), 0U);
  EXPECT_EQ(count(Counter::kFlowsResetByPeer), 1U);
}

}  // namespace
}  // namespace satrelay::gateway::reset_before_event_test
