// Gateway A in front of a client, joined to gateway B by a wire without delay. For tests of how a
// gateway handles each kind of frame.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "relay/gateway/gateway.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway {

inline constexpr std::uint16_t kStpPort = 7878;
inline constexpr auto kClient = "203.0.113.5";
inline constexpr auto kServer = "198.51.100.5";

inline config::Gateway config_of(std::string_view own, std::string_view peer,
                                 std::string_view peer_prefix) {
  config::Gateway config =
      test::gateway_config({.own = own}, {test::peer_config("peer", peer, {peer_prefix})});
  config::Rule ssh;
  ssh.match.port = {{22, 22}};
  ssh.action = config::Action::kBridge;
  config.rules = {ssh, {}};
  config.stp.port = kStpPort;
  // One host may have half of these.
  config.limits.flows = 8;
  config.limits.half_open = 6;
  return config;
}

class GatewayTest : public testing::Test {
 protected:
  GatewayTest()
      : memory_a_(8U << 20),
        memory_b_(8U << 20),
        config_a_(config_of("192.0.2.1", "192.0.2.2", "198.51.100.0/24")),
        config_b_(config_of("192.0.2.2", "192.0.2.1", "203.0.113.0/24")) {
    config_a_.limits.memory = config_b_.limits.memory = ByteCount(8U << 20);
    a_ = std::make_unique<Gateway>(
        config_a_, Identity{.boot_epoch = 1, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_a_,
        now_);
  }

  void start_peer() {
    b_ = std::make_unique<Gateway>(config_b_,
                                   Identity{.boot_epoch = 1, .secret = {3, 4}, .wan_mac = kPeerMac},
                                   memory_b_, now_);
    for (int i = 0; i < 40; ++i) step();
    ASSERT_EQ(a_->peers()[0].state, stp::PeerState::kAlive);
  }

  // 100 ms pass, and both gateways send all that they have for the WAN.
  void step() {
    now_ += Duration::milliseconds(100);
    if (a_->next_timeout() <= now_) a_->handle_timeout(now_);
    if (b_->next_timeout() <= now_) b_->handle_timeout(now_);
    for (int round = 0; round < 8; ++round) {
      carry(*a_, *b_);
      carry(*b_, *a_);
    }
  }
  void carry(Gateway& from, Gateway& to) {
    FrameBytes frame(from.max_frame_size());
    while (const std::size_t size = from.poll_frame(PortId::kWan, frame, now_).size) {
      to.handle_frame(PortId::kWan, ConstBytes(frame).first(size), now_);
    }
  }

  Verdict lan(const FrameBytes& frame) { return a_->handle_frame(PortId::kLan, frame, now_); }
  Verdict wan(const FrameBytes& frame) { return a_->handle_frame(PortId::kWan, frame, now_); }
  std::uint64_t count(Counter counter) const { return a_->counters()[counter]; }
  std::optional<FrameBytes> next_frame(PortId port) {
    FrameBytes frame(a_->max_frame_size());
    const std::size_t size = a_->poll_frame(port, frame, now_).size;
    if (size == 0) return std::nullopt;
    frame.resize(size);
    return frame;
  }

  static wire::TcpHeader syn(std::uint16_t source_port = 40000, std::uint16_t port = 80) {
    wire::TcpHeader tcp;
    tcp.source_port = source_port;
    tcp.destination_port = port;
    tcp.sequence = 1000;
    tcp.flags = wire::TcpFlags::kSyn;
    tcp.window = 64240;
    tcp.options.mss = 1460;
    return tcp;
  }

  Instant now_ = Instant::from_nanoseconds(1);
  std::vector<std::byte> memory_a_;
  std::vector<std::byte> memory_b_;
  config::Gateway config_a_;
  config::Gateway config_b_;
  std::unique_ptr<Gateway> a_;
  std::unique_ptr<Gateway> b_;
};

}  // namespace satrelay::gateway
