// Connections of a client on the LAN of gateway A to a server on the LAN of gateway B. Their frames
// and their ARP may have any MACs. For tests of the MAC to which the gateway sends frames of a
// flow.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"
#include "tests/unit/relay/gateway/relayed_fixture.h"

namespace satrelay::gateway {

inline constexpr MacAddress kNewMac{{2, 0, 0, 0, 9, 9}};
inline constexpr MacAddress kForgedMac{{2, 0, 0, 0, 6, 6}};

struct LanPlace {
  std::string client, server;
  std::uint16_t vlan = 0;  // 0: untagged
};

// A frame that the gateway has sent to the LAN.
struct SentToLan {
  wire::EthernetHeader ethernet;
  bool is_question = false;
  std::optional<wire::TcpHeader> tcp = {};
};

class MacMoves : public RelayedTest {
 protected:
  wire::EthernetHeader ethernet(const MacAddress& from, const MacAddress& to = kServerMac) const {
    wire::EthernetHeader header;
    header.source = from;
    header.destination = to;
    if (vlan_ != 0) {
      header.tag_count = 1;
      header.tags[0] = {.tpid = 0x8100, .tci = vlan_};
    }
    return header;
  }

  // The client of `place` opens a connection, and acknowledges nothing more.
  void open(const LanPlace& place) {
    vlan_ = place.vlan;
    client_ = place.client;
    server_ = place.server;
    connect(40'000);
  }
  void connect(std::uint16_t port, const MacAddress& mac = kHostMac) {
    wire::TcpHeader tcp = syn(port);
    ASSERT_EQ(lan(frame_of(tcp, {}, ethernet(mac))), Verdict::kConsumed);
    const auto answer = hear();
    ASSERT_TRUE(answer);
    acknowledgment_ = answer->sequence + 1;
    tcp = segment(0);
    tcp.source_port = port;
    ASSERT_EQ(lan(frame_of(tcp, {}, ethernet(mac))), Verdict::kConsumed);
    answer_as_server(port);
  }
  // The server, on the LAN of the other gateway, accepts the connection of `port`.
  void answer_as_server(std::uint16_t port) {
    for (int i = 0; i < 3; ++i) step();
    FrameBytes bytes(b_->max_frame_size());
    std::optional<wire::TcpHeader> theirs;
    while (const std::size_t size = b_->poll_frame(PortId::kLan, bytes, now_).size) {
      const Frame frame = look_at(ConstBytes(bytes).first(size));
      const auto tcp = wire::parse_tcp(frame.payload);
      if (frame.kind == FrameKind::kTcp && tcp->header.source_port == port) theirs = tcp->header;
    }
    ASSERT_TRUE(theirs);
    back_ = wire::TcpHeader();
    back_.source_port = theirs->destination_port;
    back_.destination_port = port;
    back_.sequence = 9'000;
    back_.acknowledgment = theirs->sequence + 1;
    back_.flags = wire::TcpFlags::kSyn | wire::TcpFlags::kAck;
    back_.window = 64'240;
    serve("");
    back_.flags = wire::TcpFlags::kAck;
    ++back_.sequence;
    wait(Duration::milliseconds(400));
    sent_.clear();
  }
  // The server of the last connection sends `payload`.
  void serve(std::string_view payload) {
    b_->handle_frame(
        PortId::kLan,
        tcp_frame(server_, client_, back_, ethernet(kServerMac, named_by_server_), payload), now_);
    back_.sequence += static_cast<std::uint32_t>(payload.size());
  }

  void wait(Duration duration) {
    constexpr Duration kStep = Duration::milliseconds(10);
    for (const Instant end = now_ + duration; now_ < end;) {
      now_ += kStep;
      if (a_->next_timeout() <= now_) a_->handle_timeout(now_);
      if (b_->next_timeout() <= now_) b_->handle_timeout(now_);
      carry(*a_, *b_);
      carry(*b_, *a_);
      take();
    }
  }
  void take() {
    while (const auto bytes = next_frame(PortId::kLan)) {
      const Frame frame = look_at(*bytes);
      SentToLan sent{
          .ethernet = frame.ethernet,
          .is_question = frame.kind == FrameKind::kArp || frame.kind == FrameKind::kIcmp};
      if (frame.kind == FrameKind::kTcp) sent.tcp = wire::parse_tcp(frame.payload)->header;
      sent_.push_back(sent);
    }
  }
  std::size_t questions() const {
    return static_cast<std::size_t>(std::ranges::count(sent_, true, &SentToLan::is_question));
  }
  std::size_t segments_to(const MacAddress& mac) const {
    return static_cast<std::size_t>(std::ranges::count_if(sent_, [&](const SentToLan& sent) {
      return !sent.is_question && sent.ethernet.destination == mac;
    }));
  }
  SentToLan last_segment() const {
    const auto found = std::find_if(sent_.rbegin(), sent_.rend(),
                                    [](const SentToLan& sent) { return !sent.is_question; });
    EXPECT_NE(found, sent_.rend());
    return found != sent_.rend() ? *found : SentToLan{.ethernet = {}, .tcp = wire::TcpHeader()};
  }
  // Waits no longer than a flow lives.
  void wait_for(std::size_t segments, const MacAddress& mac) {
    for (int i = 0; i < 6'000 && segments_to(mac) < segments; ++i) wait(Duration::milliseconds(10));
    ASSERT_GE(segments_to(mac), segments);
  }
  // The client acknowledges `bytes` bytes of the last segment.
  void acknowledge(const MacAddress& from, std::uint32_t bytes) {
    wire::TcpHeader tcp = segment(0);
    tcp.acknowledgment = last_segment().tcp->sequence + bytes;
    acknowledgment_ = tcp.acknowledgment;
    ASSERT_EQ(lan(frame_of(tcp, {}, ethernet(from))), Verdict::kConsumed);
    take();
  }

  // Sends bytes that the client acknowledges at once. So the next repeat comes soon again.
  void end_backoff(const MacAddress& mac) {
    serve("quick");
    wait(Duration::milliseconds(20));
    acknowledge(mac, 5);
    sent_.clear();
  }

  enum class Override : std::uint8_t { kSet, kClear };
  // By default the claim goes to all, as from a host that has just moved.
  void claim(std::string_view address, const MacAddress& mac, Override how = Override::kSet,
             const MacAddress& to = MacAddress::broadcast()) {
    verdict_ = lan(claim_frame(address, mac, to, how));
  }
  // ARP, or a neighbour advertisement.
  FrameBytes claim_frame(std::string_view address, const MacAddress& mac, const MacAddress& to,
                         Override how = Override::kSet) const {
    const wire::EthernetHeader header = ethernet(mac, to);
    const IpAddress host = ip_of(address);
    if (host.is_v4()) {
      return arp_frame(header, {.operation = wire::ArpOperation::kReply,
                                .sender_mac = mac,
                                .sender = host,
                                .target_mac = to,
                                .target = host});
    }
    wire::IpHeader ip;
    ip.source = host;
    ip.destination = ip_of("ff02::1");
    ip.protocol = wire::kProtocolIcmpV6;
    ip.hop_limit = 255;
    FrameBytes body(64);
    body.resize(wire::write_neighbour(
        ip, {.advertisement = true, .target = host, .link_layer = mac}, body));
    constexpr std::size_t kFlags = 4;
    if (how == Override::kClear) store_u32(&body[kFlags], 0);
    return ip_frame(header, ip, body);
  }

  std::uint16_t vlan_ = 0;
  MacAddress named_by_server_ = kHostMac;  // to which the server addresses its frames
  wire::TcpHeader back_;
  std::vector<SentToLan> sent_;
  Verdict verdict_{};
};

}  // namespace satrelay::gateway
