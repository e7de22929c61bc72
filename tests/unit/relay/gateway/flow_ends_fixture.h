// Two gateways between two hosts with one connection. Each host does what the test says.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway {

// A host with one connection, which takes and acknowledges bytes in order.
class MiniHost {
 public:
  struct Socket {
    const char* address;
    std::uint16_t port;
  };
  MiniHost(Socket own, Socket far, std::uint32_t isn) : own_(own), far_(far), next_(isn) {}

  FrameBytes frame(std::uint8_t flags, std::string_view payload = {}) {
    wire::TcpHeader tcp;
    tcp.source_port = own_.port;
    tcp.destination_port = far_.port;
    tcp.sequence = next_;
    tcp.acknowledgment = (flags & wire::TcpFlags::kAck) != 0 ? expected_ : 0;
    tcp.flags = flags;
    tcp.window = 64240;
    if ((flags & wire::TcpFlags::kSyn) != 0) tcp.options.mss = 1460;
    next_ += static_cast<std::uint32_t>(payload.size());
    if ((flags & (wire::TcpFlags::kSyn | wire::TcpFlags::kFin)) != 0) ++next_;
    return tcp_frame(own_.address, far_.address, tcp, host_to_server(), payload);
  }

  void send(Gateway& gateway, Instant now, std::uint8_t flags, std::string_view payload = {}) {
    EXPECT_EQ(gateway.handle_frame(PortId::kLan, frame(flags, payload), now), Verdict::kConsumed);
  }

  // Takes all frames that the gateway has for the host.
  void listen(Gateway& gateway, Instant now) {
    FrameBytes out(gateway.max_frame_size());
    while (const std::size_t size = gateway.poll_frame(PortId::kLan, out, now).size) {
      const Frame seen = look_at(ConstBytes(out).first(size));
      if (seen.kind == FrameKind::kArp) continue;
      const auto tcp = wire::parse_tcp(seen.payload);
      ASSERT_TRUE(tcp);
      flow_labels.push_back(seen.ip.flow_label);
      if (!silent) take(gateway, now, seen.payload.subspan(tcp->header_size), tcp->header);
    }
  }

  std::uint32_t expected() const { return expected_; }  // the next sequence number

  std::string received;
  std::vector<std::uint32_t> flow_labels;
  int resets = 0;
  int syns = 0;
  std::uint32_t reset_sequence = 0;
  bool saw_end = false;

  bool silent = false;  // frames to the host are lost

 private:
  void take(Gateway& gateway, Instant now, ConstBytes payload, const wire::TcpHeader& tcp) {
    if (tcp.has(wire::TcpFlags::kRst)) {
      ++resets;
      reset_sequence = tcp.sequence;
      return;
    }
    if (tcp.has(wire::TcpFlags::kSyn)) {
      expected_ = tcp.sequence + 1;
      if (!tcp.has(wire::TcpFlags::kAck)) ++syns;
      send(gateway, now, tcp.has(wire::TcpFlags::kAck) ? wire::TcpFlags::kAck : kSynAck);
      return;
    }
    if (payload.empty() && !tcp.has(wire::TcpFlags::kFin)) return;
    if (tcp.sequence == expected_) {
      for (const std::byte b : payload) received += static_cast<char>(b);
      expected_ +=
          static_cast<std::uint32_t>(payload.size()) + (tcp.has(wire::TcpFlags::kFin) ? 1U : 0U);
      saw_end = saw_end || tcp.has(wire::TcpFlags::kFin);
    }
    send(gateway, now, wire::TcpFlags::kAck);
  }
  static constexpr std::uint8_t kSynAck = wire::TcpFlags::kSyn | wire::TcpFlags::kAck;
  Socket own_;
  Socket far_;
  std::uint32_t next_;
  std::uint32_t expected_ = 0;
};

class FlowEndsTest : public GatewayTest {
 protected:
  void SetUp() override { start_peer(); }
  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      listen();
      step();
    }
    listen();
  }
  void listen() {
    near_.listen(*a_, now_);
    far_.listen(*b_, now_);
  }
  // Relays a connection that both hosts end, until gateway A has forgotten it.
  void relay_one_to_its_end() {
    near_.send(*a_, now_, wire::TcpFlags::kSyn);
    run(10);
    near_.send(*a_, now_, kFinAck);
    run(10);
    ASSERT_TRUE(far_.saw_end);
    far_.send(*b_, now_, kFinAck);
    run(20);
    ASSERT_TRUE(near_.saw_end);
    ASSERT_EQ(a_->flow_count(), 0U) << "out of LAST-ACK";
  }
  static constexpr std::uint8_t kFinAck = wire::TcpFlags::kFin | wire::TcpFlags::kAck;
  static constexpr std::uint8_t kPushAck = wire::TcpFlags::kPsh | wire::TcpFlags::kAck;
  MiniHost near_{{kClient, 40000}, {kServer, 80}, 1000};
  MiniHost far_{{kServer, 80}, {kClient, 40000}, 500'000};
};

}  // namespace satrelay::gateway
