// Two gateways, one of which has a peer for all addresses, and devices that may stand between them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/addresses/lan/solicited_node.h"
#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::devices_between_test {

using Flags = wire::TcpFlags;

inline constexpr auto kModem = "192.168.100.1";
inline constexpr auto kModem6 = "2001:db8:64::1";
inline constexpr auto kClient6 = "2001:db8:a::5";
inline constexpr MacAddress kModemMac{{2, 0, 0x5e, 0, 0x33, 1}};
inline constexpr std::uint32_t kServerNumber = 9'000;

inline FrameBytes neighbour_frame(const wire::EthernetHeader& to, const IpAddress& source,
                                  const IpAddress& destination,
                                  const wire::NeighbourMessage& message) {
  wire::IpHeader ip;
  ip.source = source;
  ip.destination = destination;
  ip.protocol = wire::kProtocolIcmpV6;
  ip.hop_limit = 255;
  FrameBytes body(64);
  body.resize(wire::write_neighbour(ip, message, body));
  return ip_frame(to, ip, body);
}

class BetweenGatewaysTest : public GatewayTest {
 protected:
  void SetUp() override { start({"0.0.0.0/0", "::/0"}); }
  void start(const std::vector<const char*>& prefixes,
             std::shared_ptr<CommonKnowledge> common = nullptr) {
    config_a_.peers[0].prefixes.clear();
    for (const char* each : prefixes) {
      config_a_.peers[0].prefixes.push_back(*IpPrefix::parse(each));
    }
    config_b_.peers[0].prefixes = {*IpPrefix::parse("203.0.113.0/24"),
                                   *IpPrefix::parse("192.168.100.0/24"),
                                   *IpPrefix::parse("2001:db8:a::/48")};
    wire_.clear();
    a_.reset();
    b_.reset();
    a_ = std::make_unique<Gateway>(config_a_,
                                   Identity{.boot_epoch = ++epoch_,
                                            .secret = {1, 2},
                                            .wan_mac = kGatewayMac,
                                            .common = std::move(common)},
                                   memory_a_, now_);
    b_ = std::make_unique<Gateway>(
        config_b_, Identity{.boot_epoch = ++epoch_, .secret = {3, 4}, .wan_mac = kPeerMac},
        memory_b_, now_);
    wait(Duration::seconds(6));
    ASSERT_EQ(a_->peers()[0].state, stp::PeerState::kAlive);
    to_server_.clear();
    to_host_.clear();
  }

  void restart_far_gateway() {
    wire_.clear();
    b_.reset();
    b_ = std::make_unique<Gateway>(
        config_b_, Identity{.boot_epoch = ++epoch_, .secret = {3, 4}, .wan_mac = kPeerMac},
        memory_b_, now_);
    do {
      wait(Duration::milliseconds(100));
    } while (a_->peers()[0].state != stp::PeerState::kAlive ||
             b_->peers()[0].state != stp::PeerState::kAlive);
  }

  // Runs both gateways, over a path with a round trip of 600 ms.
  void wait(Duration duration) {
    for (const Instant end = now_ + duration; now_ < end;) {
      now_ += Duration::milliseconds(5);
      for (Gateway* const gateway : {a_.get(), b_.get()}) {
        if (gateway->next_timeout() <= now_) gateway->handle_timeout(now_);
        FrameBytes frame(gateway->max_frame_size());
        while (const std::size_t size = gateway->poll_frame(PortId::kWan, frame, now_).size) {
          cross(gateway == a_.get() ? b_.get() : a_.get(), ConstBytes(frame).first(size));
        }
        while (const std::size_t size = gateway->poll_frame(PortId::kLan, frame, now_).size) {
          note(gateway == a_.get() ? to_host_ : to_server_, ConstBytes(frame).first(size));
        }
      }
      while (!wire_.empty() && wire_.front().due <= now_) {
        const Crossing crossing = wire_.front();
        wire_.pop_front();
        const Verdict verdict = crossing.to->handle_frame(PortId::kWan, crossing.bytes, now_);
        if (verdict == Verdict::kBridge) {
          note(crossing.to == a_.get() ? to_host_ : to_server_, crossing.bytes);
        }
      }
    }
  }
  // A host sends a frame through gateway A. If A bridges it, it crosses to gateway B.
  Verdict say(const FrameBytes& frame) {
    const Verdict verdict = lan(frame);
    if (verdict == Verdict::kBridge) cross(b_.get(), frame);
    return verdict;
  }

  // The host asks for the address, and an answer comes from the WAN a little later.
  void resolve(const char* host, Duration after = Duration::milliseconds(5)) {
    ask(host);
    wait(after);
    answer(host);
  }
  void ask(const char* host) {
    wire::EthernetHeader to_all = host_to_server();
    if (ip_of(host).is_v4()) {
      to_all.destination = MacAddress::broadcast();
      say(arp_frame(to_all, {.operation = wire::ArpOperation::kRequest,
                             .sender_mac = kHostMac,
                             .sender = ip_of(kClient),
                             .target_mac = {},
                             .target = ip_of(host)}));
      return;
    }
    const IpAddress group = solicited_node(ip_of(host));
    to_all.destination = multicast_mac(group);
    say(neighbour_frame(to_all, ip_of(kClient6), group,
                        {.advertisement = false, .target = ip_of(host), .link_layer = kHostMac}));
  }
  void answer(const char* host) {
    wire::EthernetHeader to_host;
    to_host.source = kModemMac;
    to_host.destination = kHostMac;
    if (ip_of(host).is_v4()) {
      wan(arp_frame(to_host, {.operation = wire::ArpOperation::kReply,
                              .sender_mac = kModemMac,
                              .sender = ip_of(host),
                              .target_mac = kHostMac,
                              .target = ip_of(kClient)}));
      return;
    }
    wan(neighbour_frame(to_host, ip_of(host), ip_of(kClient6),
                        {.advertisement = true, .target = ip_of(host), .link_layer = kModemMac}));
  }

  static const char* client_of(const char* server) {
    return ip_of(server).is_v4() ? kClient : kClient6;
  }
  Verdict connect(std::uint16_t port, const char* server = kServer) {
    return say(tcp_frame(client_of(server), server, syn(port)));
  }
  static wire::TcpHeader syn_ack(std::uint16_t port, std::uint32_t acknowledgment = 1'001,
                                 std::uint8_t flags = Flags::kSyn | Flags::kAck) {
    wire::TcpHeader tcp;
    tcp.source_port = 80;
    tcp.destination_port = port;
    tcp.sequence = kServerNumber;
    tcp.acknowledgment = acknowledgment;
    tcp.flags = flags;
    tcp.window = 64'240;
    return tcp;
  }
  // The client's ACK after the answer to its SYN.
  static wire::TcpHeader behind(std::uint16_t port,
                                std::uint32_t acknowledgment = kServerNumber + 1) {
    wire::TcpHeader tcp = syn(port);
    tcp.flags = Flags::kAck;
    ++tcp.sequence;
    tcp.acknowledgment = acknowledgment;
    tcp.options = {};
    return tcp;
  }
  static FrameBytes from_server(const wire::TcpHeader& tcp, const char* server = kServer) {
    return tcp_frame(server, client_of(server), tcp, host_to_server().reversed());
  }
  // A device on the WAN answers, or a forger does.
  Verdict answer_from_wan(std::uint16_t port, const char* server = kServer,
                          std::uint32_t acknowledgment = 1'001) {
    return wan(from_server(syn_ack(port, acknowledgment), server));
  }
  // The far host answers the SYN that has reached it, and gateway B bridges the answer.
  void answer_from_far_lan(std::uint16_t port, std::uint32_t number = kServerNumber) {
    wire::TcpHeader tcp = syn_ack(port);
    tcp.sequence = number;
    const FrameBytes bytes = from_server(tcp);
    ASSERT_EQ(b_->handle_frame(PortId::kLan, bytes, now_), Verdict::kBridge);
    cross(a_.get(), bytes);
  }

  // The ARP of a host on the far LAN shows that it has the address.
  void tell_on_far_lan(const char* host) {
    wire::EthernetHeader to_all;
    to_all.source = kServerMac;
    to_all.destination = MacAddress::broadcast();
    b_->handle_frame(PortId::kLan,
                     arp_frame(to_all, {.operation = wire::ArpOperation::kRequest,
                                        .sender_mac = kServerMac,
                                        .sender = ip_of(host),
                                        .target_mac = {},
                                        .target = ip_of("198.51.100.1")}),
                     now_);
  }

  struct Seen {
    wire::TcpHeader tcp;
    IpAddress source;
  };
  static std::optional<Seen> take(std::vector<Seen>& seen, std::uint8_t flags) {
    const auto found = std::ranges::find_if(
        seen, [&](const Seen& each) { return (each.tcp.flags & flags) == flags; });
    if (found == seen.end()) return std::nullopt;
    const Seen taken = *found;
    seen.erase(found);
    return taken;
  }
  std::optional<Counter> explained(const char* server) const {
    PolicyKey key;
    key.source = ip_of(client_of(server));
    key.destination = ip_of(server);
    key.port = 80;
    key.protocol = wire::kProtocolTcp;
    return a_->explain(key, now_).bridged_as;
  }

  std::vector<Seen> to_server_, to_host_;  // TCP on the two LANs
  Duration one_way_ = Duration::milliseconds(300);

 private:
  struct Crossing {
    Instant due;
    Gateway* to = nullptr;
    FrameBytes bytes;
  };
  void cross(Gateway* to, ConstBytes bytes) {
    wire_.push_back({now_ + one_way_, to, FrameBytes(bytes.begin(), bytes.end())});
  }
  static void note(std::vector<Seen>& seen, ConstBytes bytes) {
    const Frame frame = look_at(bytes);
    if (frame.kind != FrameKind::kTcp) return;
    if (const auto tcp = wire::parse_tcp(frame.payload)) {
      seen.push_back({tcp->header, frame.ip.source});
    }
  }
  std::deque<Crossing> wire_;
  std::uint64_t epoch_ = 1;
};

}  // namespace satrelay::gateway::devices_between_test
