// The workers of a gateway divide a link by their demands. A worker that hangs loses its part.
#include "relay/satrelayd/workers/link_sharing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "pep/base/time.h"
#include "relay/satrelayd/workers/engines.h"
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
  // Runs worker `i` for a millisecond. Its hosts always have more to send. Returns the bytes sent.
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
  // Runs both workers, or only the first one while the second hangs. Returns the rate of the first
  // one in bits a second.
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

// Four workers, each in a thread of its own. They run at the same time, and meet before the clock
// advances.
class Threads : public gateway::GatewayTest {
 protected:
  static constexpr unsigned kWorkers = 4;
  static constexpr Duration kStep = Duration::microseconds(250);
  static constexpr std::uint32_t kOverhead = 38;

  Threads() {
    config_a_.worker.count = kWorkers;
    std::vector<Gateway*> engines;
    for (unsigned i = 0; i < kWorkers; ++i) {
      memory_.emplace_back(8U << 20);
      gateways_.push_back(
          std::make_unique<Gateway>(config_a_,
                                    gateway::Identity{.boot_epoch = 1,
                                                      .secret = {1, 2},
                                                      .wan_mac = gateway::kGatewayMac,
                                                      .share = {.worker = i, .workers = kWorkers}},
                                    memory_.back(), now_));
      engines.push_back(gateways_.back().get());
    }
    engines_.emplace(engines);
    sharing_.emplace(
        config_a_, *engines_, [] {}, now_);
  }

  // Each worker sends a tenth of the link, and from step `rises` on all it can. The first worker
  // does not run for `away` steps from there on. Returns the octets that left in each step.
  std::vector<std::uint64_t> run(int steps, int rises, int away) {
    std::vector<std::uint64_t> sent;
    std::atomic<std::uint64_t> sum = 0;
    int step = 0;
    std::barrier meet(kWorkers, [&]() noexcept {
      sent.push_back(sum.exchange(0));
      now_ += kStep;
      ++step;
    });
    std::vector<std::jthread> threads;
    for (unsigned worker = 0; worker < kWorkers; ++worker) {
      threads.emplace_back([&, worker] {
        gateway::FrameBytes out(2'000);
        while (step < steps) {
          const bool is_away = worker == 0 && step >= rises && step < rises + away;
          if (!is_away) sum += run_worker(worker, step, step >= rises, out);
          meet.arrive_and_wait();
        }
      });
    }
    threads.clear();
    return sent;
  }
  std::uint64_t run_worker(unsigned worker, int step, bool hungry, gateway::FrameBytes& out) {
    Gateway& engine = *gateways_[worker];
    sharing_->tick(worker, now_);
    if (engine.next_timeout() <= now_) engine.handle_timeout(now_);
    const std::uint64_t octets = frame_.size() - 14 + kOverhead;
    std::uint64_t sent = 0;
    const auto offer = [&] {
      const bool leaves =
          engine.handle_frame(PortId::kLan, frame_, now_) == gateway::Verdict::kBridge;
      if (leaves) sent += octets;
    };
    // 12 kbit every 10 steps are 4.8 of 50 Mbit/s.
    if (!hungry && (step + static_cast<int>(worker)) % 10 == 0) offer();
    for (int i = 0; hungry && i < 64 && engine.held_frames() < 16; ++i) offer();
    while (engine.poll_frame(PortId::kWan, out, now_).kind != gateway::Polled::Kind::kNothing) {
      sent += octets;
    }
    return sent;
  }

  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::unique_ptr<Gateway>> gateways_;
  gateway::FrameBytes frame_ =
      gateway::udp_frame(gateway::kClient, gateway::kServer, 53, gateway::FrameBytes(1'434));
  std::optional<Engines> engines_;
  std::optional<LinkSharing> sharing_;
};

// The most in any window of 20 ms or more: 1.02 of the link, 4 ms, and two packets of each worker.
TEST_F(Threads, NeverExceedTheLinkWhileTheFirstOneIsStarved) {
  constexpr double kRate = 50e6 / 8;
  for (const int away_ms : {0, 10, 50, 500}) {
    const std::vector<std::uint64_t> sent = run((away_ms + 400) * 4, 800, away_ms * 4);
    double worst = 0;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      double octets = 0;
      for (std::size_t k = i; k < sent.size(); ++k) {
        octets += static_cast<double>(sent[k]);
        const double window = std::max(static_cast<double>(k - i) * kStep.to_seconds(), 0.02);
        const double allowed = kRate * (1.02 * window + 0.004) + kWorkers * 2 * (1'500 + kOverhead);
        worst = std::max(worst, octets - allowed);
      }
    }
    EXPECT_EQ(worst, 0) << away_ms << " ms";
    std::uint64_t all = 0;
    for (std::size_t i = 800; i < sent.size(); ++i) all += sent[i];
    EXPECT_GT(static_cast<double>(all),
              kRate * static_cast<double>(sent.size() - 800) * kStep.to_seconds() * 0.7)
        << "the others go on";
  }
}

}  // namespace
}  // namespace satrelay::satrelayd::link_sharing_test
