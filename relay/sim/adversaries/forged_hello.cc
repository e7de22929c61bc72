#include "relay/sim/adversaries/forged_hello.h"

#include <algorithm>

#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"
#include "relay/sim/adversaries/hello_packet.h"

namespace satrelay::sim {
namespace {

constexpr std::uint16_t kFirstLanePort = 7878;

}  // namespace

std::vector<std::byte> write_forged_hello(const ForgedHello& forged) {
  stp::HelloFrame hello;
  hello.minimum_version = hello.maximum_version = stp::kVersion;
  hello.opens_even_streams = forged.from.address < forged.to.address;
  hello.answer_wanted = true;
  hello.lane_count = forged.lane.count;
  hello.encrypts = !forged.offer.empty();
  hello.epoch = forged.epoch;
  hello.peer_epoch = forged.peer_epoch;
  hello.datagram_size = 1472;
  hello.lane_credit = hello.stream_credit = 1 << 20;
  const auto packet = write_hello_packet({.lane = forged.lane.number, .number = 1}, hello,
                                         {.offer = forged.offer, .accept = {}});
  return write_stp_frame(forged.from, forged.to, packet, forged.lane.number);
}

std::vector<std::byte> write_stp_frame(const WanAddress& from, const WanAddress& to,
                                       ConstBytes datagram, std::uint8_t lane) {
  wire::EthernetHeader ethernet;
  ethernet.source = from.mac;
  ethernet.destination = to.mac;
  ethernet.type = wire::EtherType::kIpv4;
  wire::IpHeader ip;
  ip.source = from.address;
  ip.destination = to.address;
  ip.protocol = wire::kProtocolUdp;
  ip.payload_size = static_cast<std::uint16_t>(wire::kUdpHeaderSize + datagram.size());
  std::vector<std::byte> frame(ethernet.size() + wire::kIpv4HeaderSize + ip.payload_size);
  wire::write_ethernet(ethernet, frame);
  const MutableBytes packet = MutableBytes(frame).subspan(ethernet.size());
  const MutableBytes udp = packet.subspan(wire::write_ip(ip, packet));
  const auto port = static_cast<std::uint16_t>(kFirstLanePort + lane);
  wire::write_udp({port, port, ip.payload_size, 0}, udp);
  std::ranges::copy(datagram, udp.begin() + wire::kUdpHeaderSize);
  return frame;
}

}  // namespace satrelay::sim
