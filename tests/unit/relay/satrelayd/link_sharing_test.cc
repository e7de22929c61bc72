// The workers of a gateway divide a link by what each says; who says nothing more keeps nothing.
#include "relay/satrelayd/link_sharing.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "pep/base/time.h"
#include "relay/satrelayd/engines.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::satrelayd::link_sharing_test {
namespace {

using gateway::Gateway;
using gateway::PortId;

class LinkSharingTest : public gateway::GatewayTest {
 protected:
  LinkSharingTest() {
    config_a_.worker.count = 2;
    for (unsigned i = 0; i < 2; ++i) {
      memory_.emplace_back(8U << 20);
      gateways_.push_back(
          std::make_unique<Gateway>(config_a_,
                                    gateway::Identity{.boot_epoch = 1,
                                                      .secret = {1, 2},
                                                      .wan_mac = gateway::kGatewayMac,
                                                      .share = {.worker = i, .workers = 2}},
                                    memory_.back(), now_));
    }
    engines_.emplace(std::vector<Gateway*>{gateways_[0].get(), gateways_[1].get()});
    sharing_.emplace(
        config_a_, *engines_, [] {}, now_);
  }
  // A millisecond of worker `i`, whose hosts never have enough.
  std::size_t run(unsigned i) {
    Gateway& engine = *gateways_[i];
    sharing_->tick(i, now_);
    if (engine.next_timeout() <= now_) engine.handle_timeout(now_);
    while (engine.held_frames() < 16) engine.handle_frame(PortId::kLan, frame_, now_);
    std::size_t bytes = 0;
    for (;;) {
      const gateway::Polled polled = engine.poll_frame(PortId::kWan, out_, now_);
      if (polled.kind == gateway::Polled::Kind::kNothing) return bytes;
      if (polled.kind == gateway::Polled::Kind::kHeld) bytes += frame_.size();
    }
  }
  // Of both, or of the first one alone while the second hangs: bits a second of the first one.
  double run_for(int milliseconds, bool second_runs) {
    std::size_t bytes = 0;
    for (int i = 0; i < milliseconds; ++i) {
      now_ += Duration::milliseconds(1);
      bytes += run(0);
      if (second_runs) run(1);
    }
    return static_cast<double>(bytes) * 8e3 / milliseconds;
  }

  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::unique_ptr<Gateway>> gateways_;
  gateway::FrameBytes frame_ =
      gateway::udp_frame(gateway::kClient, gateway::kServer, 53, gateway::FrameBytes(1'400));
  gateway::FrameBytes out_ = gateway::FrameBytes(2'000);
  std::optional<Engines> engines_;
  std::optional<LinkSharing> sharing_;
};

TEST_F(LinkSharingTest, WhoHangsWhileItWaitsDoesNotKeepItsPart) {
  run_for(500, true);
  EXPECT_NEAR(run_for(1'000, true), 25e6, 2e6);
  run_for(500, false);
  EXPECT_GT(run_for(1'000, false), 46e6);
  run_for(500, true);
  EXPECT_NEAR(run_for(1'000, true), 25e6, 2e6) << "it goes on, and has its part again";
}

}  // namespace
}  // namespace satrelay::satrelayd::link_sharing_test
