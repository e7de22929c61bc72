#include "relay/gateway/steering/steering.h"

#include <gtest/gtest.h>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "relay/gateway/steering/flow_hash.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::steering_test {
namespace {

constexpr auto kOwn = "192.0.2.1";
constexpr auto kPeer = "192.0.2.2";
constexpr auto kHost = "198.51.100.7";
constexpr auto kServer = "203.0.113.9";

class SteeringTest : public testing::Test {
 protected:
  static config::Gateway config(unsigned workers) {
    config::Gateway config =
        test::gateway_config({.own = kOwn, .subnet = "192.0.2.1/32"},
                             {test::peer_config("p", kPeer)});  // behind a router
    config.worker.count = workers;
    return config;
  }
  static wire::TcpHeader ports(std::uint16_t source, std::uint16_t destination) {
    wire::TcpHeader tcp;
    tcp.source_port = source;
    tcp.destination_port = destination;
    tcp.flags = wire::TcpFlags::kAck;
    return tcp;
  }
  static unsigned worker_of(std::string_view a, std::string_view b, std::uint16_t pa,
                            std::uint16_t pb) {
    return flow_hash(ip_of(a), ip_of(b), pa, pb) & 7U;
  }
  Route lan(const FrameBytes& frame) { return steering_.route(PortId::kLan, frame, now_); }
  Route wan(const FrameBytes& frame) { return steering_.route(PortId::kWan, frame, now_); }
  // A fragment of a TCP segment with these ports. Each fragment has 8 octets.
  static FrameBytes fragment(std::uint16_t id, unsigned part, bool more, std::uint16_t port,
                             std::string_view from = kHost, std::uint8_t protocol = 6) {
    wire::IpHeader ip;
    ip.source = ip_of(from);
    ip.destination = ip_of(kServer);
    ip.protocol = protocol;
    ip.identification = id;
    FrameBytes payload(8);
    if (part == 0) {
      store_u16(payload.data(), port);
      store_u16(payload.data() + 2, 443);
    }
    FrameBytes frame = ip_frame(host_to_server(), ip, payload);
    std::byte* at = frame.data() + wire::kEthernetHeaderSize;
    store_u16(at + 6, static_cast<std::uint16_t>(part | (more ? 0x2000U : 0U)));
    store_u16(at + 10, 0);
    store_u16(at + 10, static_cast<std::uint16_t>(
                           ~wire::checksum_sum(ConstBytes(at, wire::kIpv4HeaderSize))));
    return frame;
  }
  static FrameBytes icmp(std::string_view from, std::string_view to,
                         const wire::IcmpMessage& message) {
    wire::IpHeader ip;
    ip.source = ip_of(from);
    ip.destination = ip_of(to);
    ip.protocol = ip.source.is_v4() ? wire::kProtocolIcmp : wire::kProtocolIcmpV6;
    ip.hop_limit = 255;
    FrameBytes payload(wire::kIcmpHeaderSize + message.body.size());
    wire::write_icmp(ip, message, payload);
    return ip_frame(host_to_server(), ip, payload);
  }
  // A router's error about a packet that is too long.
  static FrameBytes too_long(std::string_view to, const FrameBytes& packet) {
    return icmp("10.9.9.9", to,
                {.type = wire::kIcmpUnreachable,
                 .code = wire::kIcmpFragmentationNeeded,
                 .rest = 1300,
                 .body = ConstBytes(packet).subspan(wire::kEthernetHeaderSize, 28)});
  }

  Instant now_;
  Steering steering_{config(8), {1, 2}};
};

TEST_F(SteeringTest, OneWorkerHasEverything) {
  Steering one(config(1), {});
  EXPECT_EQ(one.route(PortId::kLan, tcp_frame(kHost, kServer, ports(1, 2)), now_), Route{});
  EXPECT_EQ(one.route(PortId::kLan, fragment(1, 1, true, 0), now_), Route{});
}

TEST_F(SteeringTest, AFlowIsForTheWorkerOfItsHashFromEitherPort) {
  bool seen[8] = {};
  for (std::uint16_t port = 1000; port < 1100; ++port) {
    const unsigned worker = worker_of(kHost, kServer, port, 443);
    seen[worker] = true;
    EXPECT_EQ(lan(tcp_frame(kHost, kServer, ports(port, 443))), Route{.worker = worker});
    EXPECT_EQ(wan(tcp_frame(kServer, kHost, ports(443, port))), Route{.worker = worker});
  }
  for (const bool each : seen) EXPECT_TRUE(each);
}

TEST_F(SteeringTest, VlanTagsAndExtensionHeadersAreSteppedOver) {
  auto ethernet = host_to_server();
  ethernet.tag_count = 2;
  ethernet.tags = {wire::VlanTag{0x88a8, 7}, wire::VlanTag{0x8100, 8}};
  EXPECT_EQ(lan(tcp_frame(kHost, kServer, ports(1001, 443), ethernet)).worker,
            worker_of(kHost, kServer, 1001, 443));
  wire::IpHeader ip;
  ip.source = ip_of("2001:db8::7");
  ip.destination = ip_of("2001:db8:1::9");
  ip.protocol = 60;  // destination options
  FrameBytes payload(8 + 20);
  payload[0] = std::byte{wire::kProtocolTcp};
  payload[2] = std::byte{1};  // PadN
  payload[3] = std::byte{4};
  wire::write_tcp(ports(1001, 443), MutableBytes(payload).subspan(8));
  EXPECT_EQ(lan(ip_frame(host_to_server(), ip, payload)).worker,
            worker_of("2001:db8::7", "2001:db8:1::9", 1001, 443));
}

TEST_F(SteeringTest, StpIsForTheWorkerOfItsLane) {
  for (unsigned lane = 0; lane < config::kMostWorkers; ++lane) {
    const auto port = static_cast<std::uint16_t>(7878 + lane);
    EXPECT_EQ(wan(udp_frame(kPeer, kOwn, port, FrameBytes(20))), Route{.worker = lane % 8});
  }
  // The source port does not matter, as a gateway without lane_ports() has another one.
  FrameBytes from_elsewhere = udp_frame(kPeer, kOwn, 7878 + 5, FrameBytes(20));
  store_u16(from_elsewhere.data() + wire::kEthernetHeaderSize + wire::kIpv4HeaderSize, 4444);
  EXPECT_EQ(wan(from_elsewhere), Route{.worker = 5});
  EXPECT_EQ(wan(udp_frame(kPeer, kOwn, 7877, FrameBytes(20))), Route{});
  EXPECT_EQ(wan(udp_frame(kPeer, kOwn, 7878 + 16, FrameBytes(20))), Route{});
  // STP of other gateways that passes the bridge is treated as any UDP.
  EXPECT_EQ(wan(udp_frame(kPeer, kHost, 7881, FrameBytes(20))).worker,
            worker_of(kPeer, kHost, 7881, 7881));
}

TEST_F(SteeringTest, AnErrorGoesWhereThePacketDid) {
  EXPECT_EQ(lan(too_long(kServer, tcp_frame(kServer, kHost, ports(443, 1003)))).worker,
            worker_of(kHost, kServer, 1003, 443));
  // The destination port of STP names the lane.
  FrameBytes stp = udp_frame(kOwn, kPeer, 7878 + 5, FrameBytes(20));
  store_u16(stp.data() + wire::kEthernetHeaderSize + wire::kIpv4HeaderSize, 7878 + 2);
  EXPECT_EQ(wan(too_long(kOwn, stp)).worker, 5U);
  EXPECT_EQ(wan(too_long(kOwn, udp_frame(kHost, kPeer, 7878 + 5, FrameBytes(20)))).worker, 0U);
}

TEST_F(SteeringTest, AllHearWhereNeighboursAre) {
  FrameBytes arp(wire::kEthernetHeaderSize + wire::kArpSize);
  auto ethernet = host_to_server();
  ethernet.type = wire::EtherType::kArp;
  wire::write_ethernet(ethernet, arp);
  EXPECT_EQ(wan(arp), (Route{.worker = 0, .all = true}));
  const FrameBytes solicitation =
      icmp("2001:db8::7", "2001:db8::8",
           {.type = wire::kIcmpV6NeighbourSolicitation, .code = 0, .rest = 0, .body = {}});
  EXPECT_EQ(lan(solicitation), (Route{.worker = 0, .all = true}));
}

// Each worker has flows of hosts that may move.
TEST_F(SteeringTest, AllHearWhereHostsMoveWithPeersOnItsOwnNetwork) {
  config::Gateway close = config(8);
  close.gateway.address = {ip_of("192.0.0.0"), 8};
  ASSERT_TRUE(close.gateway.address.contains(ip_of(kPeer)));
  Steering steering(close, {1, 2});
  FrameBytes arp(wire::kEthernetHeaderSize + wire::kArpSize);
  auto ethernet = host_to_server();
  ethernet.type = wire::EtherType::kArp;
  wire::write_ethernet(ethernet, arp);
  EXPECT_EQ(steering.route(PortId::kLan, arp, now_), (Route{.worker = 0, .all = true}));
  EXPECT_EQ(steering.route(PortId::kWan, arp, now_), (Route{.worker = 0, .all = true}));
}

TEST_F(SteeringTest, AFloodOfArpIsNotCopiedToAll) {
  FrameBytes to_all(wire::kEthernetHeaderSize + wire::kArpSize);
  auto ethernet = host_to_server();
  ethernet.type = wire::EtherType::kArp;
  wire::write_ethernet(ethernet, to_all);
  FrameBytes to_one = to_all;
  ethernet.destination = MacAddress::broadcast();
  wire::write_ethernet(ethernet, to_all);
  unsigned overheard = 0;
  for (int i = 0; i < 20'000; ++i, now_ += Duration::microseconds(100)) {
    const Route route = lan(to_all);
    EXPECT_EQ(route.worker, 0U);
    if (route.all) ++overheard;
  }
  EXPECT_LE(overheard, 2 * Steering::kOverheardPerSecond + Steering::kOverheardAtOnce);
  EXPECT_GE(overheard, 2 * Steering::kOverheardPerSecond);
  EXPECT_EQ(steering_.counters().not_overheard, 20'000 - overheard);
  EXPECT_TRUE(lan(to_one).all) << "an answer";
  EXPECT_TRUE(wan(to_all).all) << "a next hop";
}

// The owner is still there, but it would be taken for silent.
TEST_F(SteeringTest, AFloodHidesNoAnswerThatAWorkerWaitsFor) {
  const auto awaited = std::make_shared<AwaitedAnswers>(HashKey{1, 2});
  Steering steering(config(8), {1, 2}, awaited);
  const auto answer = [](const MacAddress& mac) {
    FrameBytes arp(wire::kEthernetHeaderSize + wire::kArpSize);
    wire::EthernetHeader ethernet = host_to_server();
    ethernet.destination = kGatewayMac;
    ethernet.type = wire::EtherType::kArp;
    wire::write_ethernet(ethernet, arp);
    wire::write_arp({.operation = wire::ArpOperation::kReply,
                     .sender_mac = mac,
                     .sender = ip_of(kServer),
                     .target_mac = kGatewayMac,
                     .target = ip_of("192.0.2.1")},
                    MutableBytes(arp).subspan(wire::kEthernetHeaderSize));
    return arp;
  };
  const auto flood = [&] {
    for (int i = 0; i < 2'000; ++i) steering.route(PortId::kLan, answer(kServerMac), now_);
  };
  awaited->await(ip_of(kServer), kHostMac, now_);
  flood();
  EXPECT_FALSE(steering.route(PortId::kLan, answer(kServerMac), now_).all);
  EXPECT_TRUE(steering.route(PortId::kLan, answer(kHostMac), now_).all);
  EXPECT_FALSE(steering.route(PortId::kLan, answer(kHostMac), now_).all) << "all have heard it";
  now_ += Steering::kBetweenAnswers;
  flood();
  EXPECT_TRUE(steering.route(PortId::kLan, answer(kHostMac), now_).all);
  now_ += AwaitedAnswers::kPatience;
  flood();
  EXPECT_FALSE(steering.route(PortId::kLan, answer(kHostMac), now_).all);
}

TEST_F(SteeringTest, WhatHasNoPortsGoesByAddresses) {
  const wire::IcmpMessage ping{.type = wire::kIcmpEchoRequest, .code = 0, .rest = 7, .body = {}};
  EXPECT_EQ(wan(icmp(kPeer, kOwn, ping)), Route{});
  EXPECT_EQ(lan(icmp(kHost, kServer, ping)).worker, worker_of(kHost, kServer, 0, 0));
  auto ethernet = host_to_server();
  ethernet.type = static_cast<wire::EtherType>(0x88cc);
  FrameBytes other(60);
  wire::write_ethernet(ethernet, other);
  EXPECT_EQ(lan(other), Route{});
  EXPECT_EQ(lan(FrameBytes(3)), Route{});
}

TEST_F(SteeringTest, FragmentsFollowTheFirst) {
  const unsigned worker = worker_of(kHost, kServer, 1004, 443);
  EXPECT_EQ(lan(fragment(9, 0, true, 1004)), Route{.worker = worker});
  EXPECT_EQ(lan(fragment(9, 1, true, 0)), Route{.worker = worker});
  EXPECT_EQ(lan(fragment(9, 2, false, 0)), Route{.worker = worker});
  EXPECT_EQ(steering_.take_released(), std::nullopt);
}

TEST_F(SteeringTest, FragmentsThatComeBeforeTheFirstWaitForIt) {
  const FrameBytes last = fragment(9, 2, false, 0), middle = fragment(9, 1, true, 0);
  EXPECT_TRUE(lan(last).kept);
  EXPECT_TRUE(lan(fragment(10, 1, true, 0)).kept);  // a fragment of another datagram
  EXPECT_TRUE(lan(middle).kept);
  const unsigned worker = worker_of(kHost, kServer, 1004, 443);
  EXPECT_EQ(lan(fragment(9, 0, true, 1004)), Route{.worker = worker});
  for (const FrameBytes& each : {last, middle}) {
    const auto released = steering_.take_released();
    ASSERT_TRUE(released);
    EXPECT_EQ(released->worker, worker);
    EXPECT_TRUE(std::ranges::equal(released->frame, each));
  }
  EXPECT_EQ(steering_.take_released(), std::nullopt);
  EXPECT_EQ(steering_.kept(), 1U);
  EXPECT_EQ(steering_.counters().kept, 3U);
}

TEST_F(SteeringTest, WhatNobodyHasBegunIsDropped) {
  EXPECT_TRUE(lan(fragment(9, 1, true, 0)).kept);
  now_ += Steering::kPatience;
  const unsigned worker = worker_of(kHost, kServer, 1004, 443);
  EXPECT_EQ(lan(fragment(9, 0, true, 1004)), Route{.worker = worker});
  EXPECT_EQ(steering_.take_released(), std::nullopt);
  EXPECT_EQ(steering_.counters().dropped_late, 1U);
}

TEST_F(SteeringTest, AHostThatFloodsTakesNoMoreThanItsPart) {
  for (std::uint16_t id = 0; id < 1000; ++id) EXPECT_TRUE(lan(fragment(id, 1, true, 0)).kept);
  EXPECT_EQ(steering_.kept(), Steering::kMostKeptOfHost);
  EXPECT_EQ(steering_.counters().dropped_no_room, 1000 - Steering::kMostKeptOfHost);
  EXPECT_TRUE(lan(fragment(1, 1, true, 0, "198.51.100.8")).kept);
  EXPECT_EQ(steering_.kept(), Steering::kMostKeptOfHost + 1);
}

TEST_F(SteeringTest, AFloodOfFirstFragmentsTakesNobodyElsesPlace) {
  const unsigned worker = worker_of(kHost, kServer, 1004, 443);
  EXPECT_EQ(lan(fragment(9, 0, true, 1004)), Route{.worker = worker});
  for (std::uint16_t id = 0; id < 10'000; ++id) lan(fragment(id, 0, true, 7, "198.51.100.9"));
  EXPECT_EQ(lan(fragment(9, 1, false, 0)), Route{.worker = worker});
}

TEST_F(SteeringTest, OnlyWhatMayBeTcpFromTheLanWaits) {
  EXPECT_EQ(lan(fragment(9, 1, true, 0, kHost, wire::kProtocolUdp)).worker,
            worker_of(kHost, kServer, 0, 0));
  EXPECT_EQ(wan(fragment(9, 1, true, 0)).worker, worker_of(kHost, kServer, 0, 0));
  EXPECT_EQ(steering_.kept(), 0U);
}

}  // namespace
}  // namespace satrelay::gateway::steering_test
