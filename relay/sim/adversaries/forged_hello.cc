#include "relay/sim/adversaries/forged_hello.h"

#include <algorithm>

#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"

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
  std::vector<std::byte> datagram(stp::kHeaderSize + stp::kHelloFrameSize + 4 +
                                  forged.offer.size() + stp::kTrailerSize);
  ByteWriter frames(MutableBytes(datagram).subspan(stp::kHeaderSize));
  stp::write_hello(frames, hello, {forged.offer, {}});
  datagram.resize(stp::kHeaderSize + frames.written() + stp::kTrailerSize);
  stp::PacketHeader header;
  header.type = stp::PacketType::kHello;
  header.lane = forged.lane.number;
  header.number = 1;
  stp::write_header(header, datagram.data());
  stp::SessionSeal().close(datagram);
  return write_stp_frame(forged.from, forged.to, datagram, forged.lane.number);
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
