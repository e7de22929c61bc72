// A connection of kClient on the LAN of gateway A, which A relays. For tests of the frames that
// follow.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway {

inline constexpr auto kClientV6 = "2001:db8:a::5";
inline constexpr auto kServerV6 = "2001:db8:b::5";

class RelayedTest : public GatewayTest {
 protected:
  void SetUp() override {
    config_a_.peers[0].prefixes.push_back(*IpPrefix::parse("2001:db8:b::/48"));
    config_b_.peers[0].prefixes.push_back(*IpPrefix::parse("2001:db8:a::/48"));
    restart();
    start_peer();
  }
  void restart() {
    a_ = std::make_unique<Gateway>(
        config_a_, Identity{.boot_epoch = ++boot_epoch_, .secret = {1, 2}, .wan_mac = kGatewayMac},
        memory_a_, now_);
  }

  void open(std::string_view client = kClient, std::string_view server = kServer) {
    client_ = client;
    server_ = server;
    ASSERT_EQ(lan(tcp_frame(client_, server_, syn())), Verdict::kConsumed);
    const auto answer = hear();
    ASSERT_TRUE(answer);
    acknowledgment_ = answer->sequence + 1;
    ASSERT_EQ(lan(frame_of(segment(0))), Verdict::kConsumed);
    ASSERT_EQ(count(Counter::kFlowsEstablished), 1U);
    while (hear()) {
    }
  }
  // A segment of the client, `offset` bytes after its SYN.
  wire::TcpHeader segment(std::uint32_t offset) const {
    wire::TcpHeader tcp = syn();
    tcp.flags = wire::TcpFlags::kAck;
    tcp.sequence = 1001 + offset;
    tcp.acknowledgment = acknowledgment_;
    tcp.options = {};
    return tcp;
  }
  FrameBytes frame_of(const wire::TcpHeader& tcp, std::string_view payload = {},
                      const wire::EthernetHeader& ethernet = host_to_server()) const {
    return tcp_frame(client_, server_, tcp, ethernet, payload);
  }
  // The next segment to the LAN.
  std::optional<wire::TcpHeader> hear() {
    heard_ = next_frame(PortId::kLan);
    if (!heard_) return std::nullopt;
    const auto tcp = wire::parse_tcp(look_at(*heard_).payload);
    return tcp ? std::optional(tcp->header) : std::nullopt;
  }
  // How many bytes the gateway has acknowledged, once its delayed ACK is due.
  std::uint32_t acknowledged() {
    now_ += Duration::milliseconds(50);
    a_->handle_timeout(now_);
    while (const auto tcp = hear()) last_acknowledged_ = tcp->acknowledgment - 1001;
    return last_acknowledged_;
  }
  MacAddress heard_by() const { return look_at(*heard_).ethernet.destination; }

  std::uint64_t boot_epoch_ = 1;
  std::string client_, server_;
  std::uint32_t acknowledgment_ = 0;
  std::uint32_t last_acknowledged_ = 0;
  std::optional<FrameBytes> heard_;  // the frame of hear()
};

}  // namespace satrelay::gateway
