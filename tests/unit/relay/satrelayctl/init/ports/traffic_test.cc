#include "relay/satrelayctl/init/ports/traffic.h"

#include <gtest/gtest.h>

#include <vector>

#include "pep/wire/arp.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/icmp.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"

namespace satrelay::ctl::init::traffic_test {
namespace {

using Frame = std::vector<std::byte>;

IpAddress ip(const char* text) { return *IpAddress::parse(text); }

Frame ethernet_frame(wire::EtherType type, std::size_t payload) {
  wire::EthernetHeader header;
  header.destination = MacAddress::broadcast();
  header.source = {{2, 0, 0, 0, 0, 1}};
  header.type = type;
  Frame frame(header.size() + payload);
  wire::write_ethernet(header, frame);
  return frame;
}

Frame arp_from(const char* sender) {
  Frame frame = ethernet_frame(wire::EtherType::kArp, wire::kArpSize);
  wire::ArpMessage message;
  message.operation = wire::ArpOperation::kRequest;
  message.sender = ip(sender);
  message.target = ip("10.0.0.1");
  wire::write_arp(message, std::span(frame).subspan(wire::kEthernetHeaderSize));
  return frame;
}

// A packet with 20 bytes of payload.
Frame packet_from(const char* sender, std::uint8_t protocol, std::uint16_t port = 0) {
  const IpAddress source = ip(sender);
  wire::IpHeader header;
  header.source = source;
  header.destination = source.is_v4() ? ip("10.9.9.9") : ip("2001:db8::9");
  header.protocol = protocol;
  header.payload_size = 20;
  const std::size_t size = source.is_v4() ? wire::kIpv4HeaderSize : wire::kIpv6HeaderSize;
  Frame frame =
      ethernet_frame(source.is_v4() ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6, size + 20);
  const auto packet = std::span(frame).subspan(wire::kEthernetHeaderSize);
  wire::write_ip(header, packet);
  if (protocol == wire::kProtocolUdp) {
    wire::UdpHeader udp;
    udp.source_port = 5000;
    udp.destination_port = port;
    udp.length = 20;
    wire::write_udp(udp, packet.subspan(size));
  }
  return frame;
}

TEST(TrafficTally, CountsNearAndFarHosts) {
  TrafficTally tally;
  for (const char* sender : {"10.0.0.2", "10.0.0.3", "10.0.0.2", "0.0.0.0"}) {
    tally.add(arp_from(sender));
  }
  tally.add(packet_from("10.0.0.2", wire::kProtocolTcp));
  tally.add(packet_from("198.51.100.7", wire::kProtocolTcp));
  tally.add(packet_from("2001:db8::7", wire::kProtocolTcp));
  tally.add(packet_from("fe80::7", wire::kProtocolTcp));
  const Traffic traffic = tally.traffic();
  EXPECT_EQ(traffic.frames, 8U);
  EXPECT_EQ(traffic.near, 2U);
  EXPECT_EQ(traffic.far, 2U);
  EXPECT_EQ(traffic.tcp, 4U);
  EXPECT_EQ(traffic.stp, 0U);
}

TEST(TrafficTally, KnowsPacketsOfGateways) {
  TrafficTally tally;
  tally.add(packet_from("192.0.2.1", wire::kProtocolUdp, 7878));
  tally.add(packet_from("192.0.2.1", wire::kProtocolUdp, 53));
  EXPECT_EQ(tally.traffic().stp, 1U);
}

TEST(TrafficTally, SkipsFramesThatItCannotRead) {
  TrafficTally tally;
  tally.add(Frame(3));
  tally.add(ethernet_frame(wire::EtherType::kIpv4, 4));
  tally.add(ethernet_frame(wire::EtherType::kArp, 4));
  tally.add(ethernet_frame(wire::EtherType::kLldp, 40));
  EXPECT_EQ(tally.traffic().frames, 4U);
  EXPECT_EQ(tally.traffic().near + tally.traffic().far, 0U);
}

}  // namespace
}  // namespace satrelay::ctl::init::traffic_test
