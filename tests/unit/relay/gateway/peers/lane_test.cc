// A lane is set up by its peer's own configuration and that of its link.
#include "relay/gateway/peers/lane.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::lane_test {
namespace {

config::Link link_with(config::Controller controller) {
  config::Link link;
  link.name = "sat";
  link.send_rate = link.receive_rate = BitRate::bits_per_second(10'000'000);
  link.control.controller = controller;
  return link;
}

class NoSource final : public stp::StreamSource, public LanReportReader {
 public:
  void produce(stp::StreamId, std::uint32_t, Instant) override {}
  void handle_report(LaneId, const LanReport&) override {}
};

TEST(MakeController, MakesTheOneThatTheLinkNames) {
  for (const auto controller : {config::Controller::kFixedRate, config::Controller::kHpfp,
                                config::Controller::kTps, config::Controller::kStp}) {
    EXPECT_NE(make_controller(link_with(controller)), nullptr);
  }
}

TEST(MakeController, ThrowsWhatNamesTheLinkIfThereIsNoSuchOne) {
  try {
    make_controller(link_with(static_cast<config::Controller>(99)));
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string_view(error.what()).find("sat"), std::string_view::npos);
  }
}

class LaneTest : public testing::Test {
 protected:
  std::vector<std::byte> memory_ = std::vector<std::byte>(1U << 20);
  Arena arena_{memory_, 4096};
  FarGateway peer_{{.name = "far", .address = ip_of("192.0.2.2"), .prefixes = {}, .links = {"sat"}},
                   {LinkId()},
                   {LaneId(), LaneId(1)},
                   arena_,
                   {}};
  Carrier carrier_{link_with(config::Controller::kFixedRate), 2, 16};
  NoSource source_;
  const Instant now_ = Instant::from_nanoseconds(1);
};

TEST_F(LaneTest, BeginsWithoutFlowsAndIsNotSuspect) {
  stp::Config stp;
  stp.boot_epoch = 1;
  stp.datagram.overhead = 28;
  stp.streams.max_streams = 4;
  const Lane lane(peer_, carrier_, stp, source_, source_, LaneId(), LaneAddress{}, 4, now_);
  EXPECT_EQ(&lane.peer, &peer_);
  EXPECT_EQ(&lane.carrier, &carrier_);
  EXPECT_EQ(lane.datagram_overhead, 28);
  EXPECT_EQ(lane.session.peer_state(), stp::PeerState::kConnecting);
  EXPECT_TRUE(lane.suspect_since.is_never());
  EXPECT_EQ(lane.flows, 0U);
  EXPECT_EQ(lane.epoch_log.count(), 0U);
  EXPECT_EQ(lane.control_messages.peer_admission(), Admission::kOpen);
}

}  // namespace
}  // namespace satrelay::gateway::lane_test
