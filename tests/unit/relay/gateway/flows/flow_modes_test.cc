// An endpoint holds back acknowledgments, windows and FINs until the far host has done its part.
#include "relay/gateway/flows/flow_modes.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "tests/unit/relay/gateway/devices/live_peer.h"

namespace satrelay::gateway::flow_modes_test {
namespace {

constexpr std::uint32_t kClientStart = 1'000;

class FlowModesTest : public testing::Test {
 protected:
  void start(const config::FlowModes& modes) {
    flow_ =
        std::make_unique<Flow>(FlowKey{}, std::make_shared<ActiveRule>(), Origin::kLan,
                               tcp::Config(), arena_, tcp::Endpoint::Shared{&counters_, {}}, now_);
    flow_->modes = modes;
    hold_back(*flow_, now_);
    wire::TcpHeader syn = segment(0, wire::TcpFlags::kSyn);
    syn.sequence = kClientStart;
    syn.options.mss = 1460;
    flow_->endpoint.accept(syn, now_);
    acknowledgment_ = flow_->endpoint.poll_segment(now_)->header.sequence + 1;
    speak(segment(0, wire::TcpFlags::kAck));
    flow_->state.complete_handshake();
    flow_->stream = *peer_.session().streams().open({}, 0, now_);
    flow_->state.open_stream();
  }
  wire::TcpHeader segment(std::uint32_t offset, std::uint8_t flags) const {
    wire::TcpHeader header;
    header.sequence = kClientStart + 1 + offset;
    header.acknowledgment = acknowledgment_;
    header.flags = flags;
    header.window = 50'000;
    return header;
  }
  void speak(const wire::TcpHeader& header, std::size_t payload = 0) {
    const std::vector<std::byte> bytes(payload);
    flow_->endpoint.handle_segment(header, bytes, now_);
  }
  // How many of the host's bytes are acknowledged once the delayed ACK is due.
  std::uint32_t acknowledged() {
    now_ += Duration::milliseconds(100);
    flow_->endpoint.handle_timeout(now_);
    while (const auto sent = flow_->endpoint.poll_segment(now_)) {
      acknowledged_ = sent->header.acknowledgment - kClientStart - 1;
    }
    return acknowledged_;
  }

  Instant now_ = Instant::from_nanoseconds(1);
  Carrier carrier_{link_of(BitRate::bits_per_second(10'000'000)), 2, 16};
  LivePeer peer_{carrier_, now_};
  std::vector<std::byte> memory_ = std::vector<std::byte>(1U << 20);
  Arena arena_{memory_, 4096};
  tcp::Counters counters_;
  std::unique_ptr<Flow> flow_;
  std::uint32_t acknowledgment_ = 0;
  std::uint32_t acknowledged_ = 0;
};

TEST_F(FlowModesTest, ByItselfTheGatewayAcknowledgesAtOnce) {
  start({});
  speak(segment(0, wire::TcpFlags::kAck), 500);
  EXPECT_EQ(acknowledged(), 500U);
  EXPECT_EQ(mirrored_window(*flow_), ~std::uint64_t{0});
  EXPECT_TRUE(all_confirmed(*flow_, peer_.session()));
}

TEST_F(FlowModesTest, EndToEndOnlyWhatTheFarHostHasIsAcknowledged) {
  start({.ack = config::AckMode::kEndToEnd});
  speak(segment(0, wire::TcpFlags::kAck), 500);
  EXPECT_EQ(acknowledged(), 0U);
  follow(*flow_, peer_.session(), {.answered = true, .delivered = 200}, now_);
  EXPECT_EQ(acknowledged(), 200U);
  follow(*flow_, peer_.session(), {.answered = true, .ended = true}, now_);
  EXPECT_EQ(acknowledged(), 500U);
}

TEST_F(FlowModesTest, AConfirmedCloseWaitsForTheFarHost) {
  start({.close = config::CloseMode::kConfirmed});
  speak(segment(0, wire::TcpFlags::kAck | wire::TcpFlags::kFin), 100);
  EXPECT_EQ(acknowledged(), 100U) << "the FIN is not";
  follow(*flow_, peer_.session(), {.answered = true, .ended = true}, now_);
  EXPECT_EQ(acknowledged(), 101U);
}

TEST_F(FlowModesTest, AMirroredWindowIsTheFarHosts) {
  start({.window = config::WindowMode::kMirror});
  EXPECT_EQ(mirrored_window(*flow_), 65'535U) << "until it has spoken";
  follow(*flow_, peer_.session(), {.answered = true, .window = 12'345}, now_);
  EXPECT_EQ(mirrored_window(*flow_), 12'345U);
}

TEST_F(FlowModesTest, ThePeerIsToldHowFarOurHostIs) {
  start({.ack = config::AckMode::kEndToEnd, .window = config::WindowMode::kMirror});
  confirm(*flow_, peer_.session(), now_);
  EXPECT_FALSE(all_confirmed(*flow_, peer_.session())) << "the peer has yet to hear it";
  for (int i = 0; i < 10; ++i) peer_.exchange(now_);
  const stp::Confirmation heard = peer_.far().streams().confirmation(flow_->stream);
  EXPECT_TRUE(heard.answered);
  EXPECT_FALSE(heard.ended);
  EXPECT_EQ(heard.window, 50'000U);
}

TEST_F(FlowModesTest, ByDefaultNothingIsTold) {
  start({});
  confirm(*flow_, peer_.session(), now_);
  for (int i = 0; i < 10; ++i) peer_.exchange(now_);
  EXPECT_EQ(peer_.session().counters().confirmations_out, 0U);
}

TEST_F(FlowModesTest, AKeepAliveCrossesOnceWhateverTheModes) {
  start({});
  acknowledged();
  follow(*flow_, peer_.session(), {.keep_alives = 1}, now_);
  ASSERT_TRUE(flow_->endpoint.poll_segment(now_)) << "our host is asked";
  follow(*flow_, peer_.session(), {.keep_alives = 1}, now_);
  EXPECT_FALSE(flow_->endpoint.poll_segment(now_));
}

}  // namespace
}  // namespace satrelay::gateway::flow_modes_test
