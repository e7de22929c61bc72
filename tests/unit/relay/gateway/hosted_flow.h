// A relayed flow with a complete handshake, and its host, which does what a test says. For tests of
// units that use flows.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/gateway/flows/flow.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway {

class HostedFlow {
 public:
  HostedFlow(Arena& arena, Instant now, std::string_view host = "203.0.113.5")
      : flow({ip_of(host), ip_of("198.51.100.5"), 40'000, 80, {}}, std::make_shared<ActiveRule>(),
             Origin::kLan, tcp::Config(), arena, tcp::Endpoint::Shared{&counters_, {}}, now) {
    wire::TcpHeader syn = segment(wire::TcpFlags::kSyn);
    syn.sequence = kStart;
    syn.options.mss = 1460;
    syn.options.window_scale = 0;
    flow.endpoint.accept(syn, now);
    listen(now);
    say({}, now);
    flow.state.complete_handshake();
    flow.lan.to_host = host_to_server().reversed();
    EXPECT_TRUE(flow.endpoint.is_synchronised());
  }

  // Sends the bytes in segments that acknowledge all that has arrived, and takes the answers.
  void say(ConstBytes bytes, Instant now, std::uint8_t flags = wire::TcpFlags::kAck) {
    do {
      const ConstBytes part = bytes.first(std::min<std::size_t>(bytes.size(), 1460));
      flow.endpoint.handle_segment(segment(flags), part, now);
      said_ += static_cast<std::uint32_t>(part.size());
      listen(now);
      bytes = bytes.subspan(part.size());
    } while (!bytes.empty());
    if ((flags & wire::TcpFlags::kFin) != 0) ++said_;
  }
  void say_some(std::size_t bytes, Instant now) { say(std::vector<std::byte>(bytes), now); }
  // Sends a keep-alive, with or without a byte of garbage. It does not take the answer yet.
  void ask(Instant now, std::size_t garbage = 0) {
    wire::TcpHeader header = segment(wire::TcpFlags::kAck);
    --header.sequence;
    flow.endpoint.handle_segment(header, std::vector<std::byte>(garbage), now);
  }
  void close(Instant now) { say({}, now, wire::TcpFlags::kAck | wire::TcpFlags::kFin); }
  // Takes all that the endpoint may send by now, and sends nothing.
  void listen(Instant now) {
    while (const auto sent = flow.endpoint.poll_segment(now)) {
      std::vector<std::byte> payload(sent->payload_size);
      flow.endpoint.copy_payload(sent->payload_offset, payload);
      heard.insert(heard.end(), payload.begin(), payload.end());
      if (sent->header.has(wire::TcpFlags::kFin)) heard_end = true;
    }
  }

 private:
  static constexpr std::uint32_t kStart = 1'000;
  wire::TcpHeader segment(std::uint8_t flags) const {
    wire::TcpHeader header;
    header.sequence = kStart + 1 + said_;
    header.acknowledgment = static_cast<std::uint32_t>(1 + heard.size() + (heard_end ? 1 : 0));
    header.flags = flags;
    header.window = window;
    return header;
  }
  tcp::Counters counters_;
  std::uint32_t said_ = 0;  // from the SYN on, including the FIN

 public:
  Flow flow;
  std::vector<std::byte> heard;
  bool heard_end = false;
  std::uint16_t window = 50'000;  // that the host offers
};

}  // namespace satrelay::gateway
