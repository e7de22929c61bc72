#include "relay/sim/adversaries/forger.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "pep/wire/arp.h"
#include "pep/wire/checksum.h"
#include "pep/wire/icmp.h"
#include "pep/wire/udp.h"
#include "relay/sim/adversaries/hello_packet.h"

namespace satrelay::sim {
namespace {

using wire::TcpFlags;

constexpr std::uint16_t kStpPort = 7878;
constexpr std::uint8_t kFragmentHeader = 44, kDestinationOptions = 60;
constexpr std::size_t kMostPayload = 1'200;

wire::EtherType type_of(const IpAddress& address) {
  return address.is_v4() ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
}

}  // namespace

Forger::Forger(EventLoop& loop, SimHost& host, const Forging& spec, Knowledge known)
    : loop_(&loop), host_(&host), spec_(spec), known_(std::move(known)), random_(spec.seed) {
  host.on_other_frame([this](ConstBytes frame) {
    if (raw_) raw_->handle_frame(frame);
  });
  if (spec.frames > 0) schedule(spec.from);
}

void Forger::schedule(Instant when) {
  loop_->at(when, [this] {
    forge();
    // With a probability of 60%, send the next frame at once. Otherwise, send it after one to four
    // times the mean interval.
    const Duration mean = spec_.length / spec_.frames;
    const auto pause = static_cast<std::int64_t>(random_.chance(0.5) ? 0 : random_.below(5));
    if (++made_ < spec_.frames) {
      schedule(loop_->now() + mean * pause);
    } else if (raw_) {
      raw_->leave();
    }
  });
}

void Forger::random_bytes(MutableBytes out) {
  for (std::byte& octet : out) octet = static_cast<std::byte>(random_.next());
}

// Chooses a flow of the scenario at random, including flows that have not started or are over.
Forger::Segment Forger::any_segment() {
  Segment segment;
  segment.flow = known_.flows[random_.below(known_.flows.size())];
  segment.from_client = random_.chance(0.5);
  return segment;
}

wire::EthernetHeader Forger::header(const Segment& segment) {
  const KnownConnection& from = segment.from_client ? segment.flow.client : segment.flow.server;
  const KnownConnection& to = segment.from_client ? segment.flow.server : segment.flow.client;
  wire::EthernetHeader ethernet;
  const bool moved = knows(LanTrick::kMovedHosts) && random_.chance(0.7);
  ethernet.source = moved ? host_->spec().addresses.mac : from.mac;
  ethernet.destination = to.mac;
  ethernet.type = type_of(from.address);
  return ethernet;
}

void Forger::send_tcp(const Segment& segment, const wire::TcpHeader& header_to_send,
                      std::size_t payload) {
  wire::TcpHeader tcp = header_to_send;
  const bool up = segment.from_client;
  tcp.source_port = up ? segment.flow.client_port : segment.flow.server_port;
  tcp.destination_port = up ? segment.flow.server_port : segment.flow.client_port;
  wire::IpHeader ip;
  ip.source = (up ? segment.flow.client : segment.flow.server).address;
  ip.destination = (up ? segment.flow.server : segment.flow.client).address;
  ip.hop_limit = static_cast<std::uint8_t>(random_.chance(0.8) ? 64 : random_.below(256));
  const bool is_near = std::ranges::none_of(
      known_.far, [&ip](const KnownConnection& host) { return host.address == ip.source; });
  if (tcp.flags == TcpFlags::kSyn && is_near) {
    asked_for_.insert({.local = ip.destination,
                       .remote = ip.source,
                       .local_port = tcp.destination_port,
                       .remote_port = tcp.source_port});
  }
  std::array<std::byte, 2'000> frame{};
  const std::size_t size = write_tcp_frame(header(segment), ip, tcp, payload, frame,
                                           [this](MutableBytes out) { random_bytes(out); });
  host_->send_raw(ConstBytes(frame).first(size));
}

void Forger::tcp(const Segment& segment, std::uint8_t flags, std::size_t payload) {
  wire::TcpHeader tcp;
  tcp.flags = flags;
  tcp.sequence = static_cast<std::uint32_t>(random_.next());
  tcp.acknowledgment = static_cast<std::uint32_t>(random_.next());
  tcp.window = static_cast<std::uint16_t>(random_.chance(0.3) ? 0 : random_.next());
  if (random_.chance(0.3)) {
    tcp.options.timestamps = wire::TcpTimestamps{static_cast<std::uint32_t>(random_.next()),
                                                 static_cast<std::uint32_t>(random_.next())};
  }
  if (random_.chance(0.2)) {
    tcp.options.sack_count = 2;
    for (auto& block : tcp.options.sack) {
      block.begin = static_cast<std::uint32_t>(random_.next());
      block.end = block.begin + static_cast<std::uint32_t>(random_.below(5'000));
    }
  }
  send_tcp(segment, tcp, payload);
}

void Forger::forge() {
  std::array<LanTrick, static_cast<std::size_t>(LanTrick::kEnd)> able{};
  std::size_t count = 0;
  for (unsigned i = 0; i < able.size(); ++i) {
    const auto trick = static_cast<LanTrick>(i);
    if (knows(trick)) able[count++] = trick;
  }
  if (count == 0 || known_.flows.empty()) return;
  const LanTrick trick = able[random_.below(count)];
  switch (trick) {
    case LanTrick::kResets:
      return resets();
    case LanTrick::kData:
      return tcp(any_segment(), TcpFlags::kAck | TcpFlags::kPsh, 1 + random_.below(kMostPayload));
    case LanTrick::kSyns:
      return syns();
    case LanTrick::kMovedHosts:
      return tcp(any_segment(), TcpFlags::kAck, 0);
    case LanTrick::kIcmp:
      return icmp();
    case LanTrick::kArp:
      return arp();
    case LanTrick::kNeighbours:
      return neighbours();
    case LanTrick::kStp:
      return stp();
    case LanTrick::kFragments:
      return fragments();
    case LanTrick::kOptions:
      return options();
    case LanTrick::kDisorder:
    case LanTrick::kOverlaps:
    case LanTrick::kSelectiveAcks: {
      if (raw_ && raw_->is_open()) return raw_->step();
      // The server has not answered the raw client's SYN yet.
      if (raw_ && random_.chance(0.8)) return;
      KnownFlow flow;
      const KnownConnection& far = known_.far[random_.below(known_.far.size())];
      flow.client = {far.address.is_v4() ? known_.raw.v4 : known_.raw.v6, known_.raw.mac};
      flow.server = far;
      flow.client_port = next_port_++;
      flow.server_port = 80;
      const auto manner = static_cast<RawClient::Manner>(
          static_cast<unsigned>(trick) - static_cast<unsigned>(LanTrick::kDisorder));
      raw_.emplace(flow, manner, random_.next(),
                   [this](ConstBytes frame) { host_->send_raw(frame); });
      return raw_->open();
    }
    case LanTrick::kFloods:
      return flood();
    case LanTrick::kGarbage:
    case LanTrick::kEnd:
      return garbage();
  }
}

void Forger::resets() {
  const std::uint8_t flags[] = {TcpFlags::kRst, TcpFlags::kRst | TcpFlags::kAck,
                                TcpFlags::kFin | TcpFlags::kAck, TcpFlags::kFin};
  tcp(any_segment(), flags[random_.below(std::size(flags))], 0);
}

void Forger::syns() {
  const std::size_t index = random_.below(known_.flows.size());
  Segment segment{known_.flows[index], random_.chance(0.5)};
  if (!known_.is_established(index)) {
    segment.flow.client_port = next_port_++;
    segment.from_client = true;
  }
  tcp(segment, random_.chance(0.6) ? TcpFlags::kSyn : TcpFlags::kSyn | TcpFlags::kAck, 0);
}

void Forger::flood() {
  Segment segment = any_segment();
  segment.from_client = true;
  segment.flow.client_port = next_port_++;
  if (next_port_ < kFirstPort) next_port_ = kFirstPort;
  if (random_.chance(0.7)) {
    // Send the SYN from an address that no host has.
    std::array<std::uint8_t, 16> octets = segment.flow.client.address.octets();
    const bool v4 = segment.flow.client.address.is_v4();
    octets[v4 ? 3 : 15] = static_cast<std::uint8_t>(100 + random_.below(100));
    segment.flow.client.address =
        v4 ? IpAddress::v4({octets[0], octets[1], octets[2], octets[3]}) : IpAddress::v6(octets);
  }
  wire::TcpHeader tcp;
  tcp.flags = TcpFlags::kSyn;
  tcp.sequence = static_cast<std::uint32_t>(random_.next());
  tcp.window = 65'535;
  tcp.options.mss = 1'460;
  send_tcp(segment, tcp, 0);
}

void Forger::send_ip(wire::EthernetHeader ethernet, wire::IpHeader ip, ConstBytes payload) {
  ip.payload_size = static_cast<std::uint16_t>(payload.size());
  std::array<std::byte, 2'000> frame{};
  wire::write_ethernet(ethernet, frame);
  std::size_t size = ethernet.size();
  size += wire::write_ip(ip, MutableBytes(frame).subspan(size));
  std::ranges::copy(payload, frame.begin() + static_cast<std::ptrdiff_t>(size));
  host_->send_raw(ConstBytes(frame).first(size + payload.size()));
}

void Forger::icmp() {
  // The ICMP error quotes a segment that was never sent. Its source address is the destination of
  // that segment, or a host of the far LAN that pretends to be a router.
  const Segment quoted = any_segment();
  const bool up = quoted.from_client;
  const KnownConnection& from = up ? quoted.flow.client : quoted.flow.server;
  const KnownConnection& to = up ? quoted.flow.server : quoted.flow.client;
  const bool v4 = from.address.is_v4();
  std::array<std::byte, 80> quotation{};
  wire::IpHeader inner;
  inner.source = from.address;
  inner.destination = to.address;
  inner.protocol = wire::kProtocolTcp;
  inner.payload_size = 20;
  const std::size_t at = wire::write_ip(inner, quotation);
  wire::TcpHeader tcp;
  tcp.source_port = up ? quoted.flow.client_port : quoted.flow.server_port;
  tcp.destination_port = up ? quoted.flow.server_port : quoted.flow.client_port;
  tcp.sequence = static_cast<std::uint32_t>(random_.next());
  tcp.flags = random_.chance(0.5) ? TcpFlags::kSyn : TcpFlags::kAck;
  wire::write_tcp(tcp, MutableBytes(quotation).subspan(at));
  wire::IpHeader ip;
  ip.source = random_.chance(0.5) ? to.address : known_.far[v4 ? 0 : 1].address;
  ip.destination = from.address;
  ip.protocol = v4 ? wire::kProtocolIcmp : wire::kProtocolIcmpV6;
  wire::IcmpMessage message;
  const std::uint8_t types_v4[] = {wire::kIcmpUnreachable,
                                   wire::kIcmpUnreachable,
                                   wire::kIcmpTimeExceeded,
                                   wire::kIcmpParameterProblem,
                                   4,
                                   5};
  const std::uint8_t types_v6[] = {wire::kIcmpV6Unreachable, wire::kIcmpV6PacketTooBig,
                                   wire::kIcmpV6TimeExceeded, wire::kIcmpV6ParameterProblem};
  message.type = v4 ? types_v4[random_.below(std::size(types_v4))]
                    : types_v6[random_.below(std::size(types_v6))];
  message.code =
      static_cast<std::uint8_t>(random_.chance(0.9) ? random_.below(16) : random_.next());
  message.rest =
      static_cast<std::uint32_t>(random_.chance(0.5) ? random_.below(1'500) : random_.next());
  message.body = ConstBytes(quotation).first(at + (random_.chance(0.8) ? 20 : random_.below(20)));
  std::array<std::byte, 120> payload{};
  const std::size_t size = wire::write_icmp(ip, message, payload);
  wire::EthernetHeader ethernet = header({quoted.flow, !up});
  ethernet.type = type_of(ip.source);
  send_ip(ethernet, ip, ConstBytes(payload).first(size));
}

void Forger::arp() {
  const KnownConnection& claimed = known_.gateways[random_.below(known_.gateways.size())];
  const KnownConnection& other = known_.gateways[random_.below(known_.gateways.size())];
  wire::ArpMessage message;
  message.operation =
      random_.chance(0.5) ? wire::ArpOperation::kReply : wire::ArpOperation::kRequest;
  message.sender_mac = host_->spec().addresses.mac;
  message.sender = claimed.address;
  message.target = random_.chance(0.5) ? other.address : claimed.address;
  message.target_mac = random_.chance(0.5) ? other.mac : MacAddress{};
  wire::EthernetHeader ethernet;
  ethernet.source = random_.chance(0.8) ? host_->spec().addresses.mac : claimed.mac;
  ethernet.destination = random_.chance(0.5) ? MacAddress::broadcast() : other.mac;
  ethernet.type = wire::EtherType::kArp;
  std::array<std::byte, 14 + wire::kArpSize> frame{};
  wire::write_ethernet(ethernet, frame);
  wire::write_arp(message, MutableBytes(frame).subspan(ethernet.size()));
  host_->send_raw(frame);
}

void Forger::neighbours() {
  // Claim an IPv6 address that no node has. The gateways have only IPv4 addresses here, so there is
  // no gateway address to claim. A claim to a host's address would disturb that host's LAN, but not
  // the gateway.
  wire::NeighbourMessage message;
  message.advertisement = random_.chance(0.7);
  message.target = *IpAddress::parse("2001:db8:ff::1");
  message.link_layer = host_->spec().addresses.mac;
  wire::IpHeader ip;
  ip.source = message.advertisement ? message.target : host_->spec().addresses.v6;
  ip.destination = *IpAddress::parse("ff02::1");
  ip.protocol = wire::kProtocolIcmpV6;
  ip.hop_limit = 255;
  std::array<std::byte, 64> payload{};
  const std::size_t size = wire::write_neighbour(ip, message, payload);
  wire::EthernetHeader ethernet;
  ethernet.source = host_->spec().addresses.mac;
  ethernet.destination = {{0x33, 0x33, 0, 0, 0, 1}};
  ethernet.type = wire::EtherType::kIpv6;
  send_ip(ethernet, ip, ConstBytes(payload).first(size));
}

// Sends an STP packet with the addresses of both gateways into a LAN, although STP is used only on
// the WAN.
void Forger::stp() {
  const std::size_t from = random_.below(known_.gateways.size());
  const KnownConnection& source = known_.gateways[from];
  const KnownConnection& destination = known_.gateways[(from + 1) % known_.gateways.size()];
  std::array<std::byte, 400> datagram{};
  std::size_t size = 20 + random_.below(300);
  random_bytes(MutableBytes(datagram).subspan(wire::kUdpHeaderSize, size));
  const MutableBytes packet = MutableBytes(datagram).subspan(wire::kUdpHeaderSize);
  if (random_.chance(0.6)) {
    stp::HelloFrame hello;
    hello.minimum_version = hello.maximum_version = stp::kVersion;
    hello.opens_even_streams = from == 0;
    hello.answer_wanted = random_.chance(0.7);
    hello.encrypts = false;
    hello.epoch = random_.chance(0.5) ? random_.next() | 1U : 1'700'000'100'000'000'000U;
    hello.peer_epoch = random_.chance(0.5) ? 0 : random_.next();
    hello.datagram_size = 1'472;
    const auto number = static_cast<std::uint32_t>(1 + random_.below(100));
    const std::vector<std::byte> forged = write_hello_packet({.number = number}, hello);
    size = forged.size();
    std::ranges::copy(forged, packet.begin());
  } else {
    packet[0] = std::byte{0x10};  // the first octet of a session's packet
  }
  wire::write_udp({kStpPort, kStpPort, static_cast<std::uint16_t>(wire::kUdpHeaderSize + size), 0},
                  datagram);
  wire::EthernetHeader ethernet;
  ethernet.source = random_.chance(0.5) ? host_->spec().addresses.mac : source.mac;
  ethernet.destination = destination.mac;
  ethernet.type = wire::EtherType::kIpv4;
  wire::IpHeader ip;
  ip.source = source.address;
  ip.destination = destination.address;
  ip.protocol = wire::kProtocolUdp;
  send_ip(ethernet, ip, ConstBytes(datagram).first(wire::kUdpHeaderSize + size));
}

void Forger::fragments() {
  const Segment segment = any_segment();
  const bool up = segment.from_client;
  const KnownConnection& from = up ? segment.flow.client : segment.flow.server;
  const KnownConnection& to = up ? segment.flow.server : segment.flow.client;
  std::array<std::byte, 600> payload{};
  ByteWriter out(payload);
  wire::IpHeader ip;
  ip.source = from.address;
  ip.destination = to.address;
  ip.protocol = wire::kProtocolTcp;
  if (from.address.is_v4()) {
    ip.dont_fragment = false;
    ip.more_fragments = random_.chance(0.6);
    ip.fragment_offset =
        static_cast<std::uint16_t>(random_.chance(0.5) ? 0 : 8 * random_.below(8'000));
    ip.identification = static_cast<std::uint16_t>(random_.below(20));
  } else {
    const bool fragment = random_.chance(0.5);
    ip.protocol = fragment ? kFragmentHeader : kDestinationOptions;
    out.u8(random_.chance(0.8) ? wire::kProtocolTcp : kDestinationOptions);
    out.u8(fragment ? 0 : static_cast<std::uint8_t>(random_.chance(0.8) ? 0 : random_.below(40)));
    if (fragment) {
      out.u16(static_cast<std::uint16_t>(random_.chance(0.5) ? 1 : random_.next()));
      out.u32(static_cast<std::uint32_t>(random_.below(20)));
    } else {
      out.u16(0x0104);  // PadN
      out.u32(0);
    }
  }
  wire::TcpHeader tcp;
  tcp.source_port = up ? segment.flow.client_port : segment.flow.server_port;
  tcp.destination_port = up ? segment.flow.server_port : segment.flow.client_port;
  tcp.flags = static_cast<std::uint8_t>(random_.chance(0.5) ? TcpFlags::kAck : TcpFlags::kRst);
  tcp.sequence = static_cast<std::uint32_t>(random_.next());
  const MutableBytes head = out.reserve(wire::kTcpHeaderSize);
  wire::write_tcp(tcp, head);
  const MutableBytes rest = out.reserve(random_.below(64) * 8);
  random_bytes(rest);
  send_ip(header(segment), ip, ConstBytes(payload).first(out.written()));
}

// Sends a segment with random options and a random data offset, but a correct checksum.
void Forger::options() {
  const Segment segment = any_segment();
  const bool up = segment.from_client;
  wire::IpHeader ip;
  ip.source = (up ? segment.flow.client : segment.flow.server).address;
  ip.destination = (up ? segment.flow.server : segment.flow.client).address;
  ip.protocol = wire::kProtocolTcp;
  std::array<std::byte, 80> bytes{};
  wire::TcpHeader tcp;
  tcp.source_port = up ? segment.flow.client_port : segment.flow.server_port;
  tcp.destination_port = up ? segment.flow.server_port : segment.flow.client_port;
  // Never set SYN: the gateway may bridge a SYN with unusual options, and the SYN would then open a
  // connection.
  tcp.flags = static_cast<std::uint8_t>(random_.next() & ~unsigned{TcpFlags::kSyn});
  tcp.sequence = static_cast<std::uint32_t>(random_.next());
  tcp.acknowledgment = static_cast<std::uint32_t>(random_.next());
  wire::write_tcp(tcp, bytes);
  random_bytes(MutableBytes(bytes).subspan(wire::kTcpHeaderSize));
  constexpr std::size_t kOffset = 12;  // position of the data offset
  bytes[kOffset] = static_cast<std::byte>(random_.below(16) << 4U);
  const MutableBytes whole = MutableBytes(bytes).first(wire::kTcpHeaderSize + random_.below(60));
  store_u16(&whole[wire::kTcpChecksumOffset], 0);
  store_u16(&whole[wire::kTcpChecksumOffset],
            wire::transport_checksum(ip.source, ip.destination, wire::kProtocolTcp, whole));
  send_ip(header(segment), ip, whole);
}

void Forger::garbage() {
  std::array<std::byte, 200> frame{};
  const std::size_t size = 14 + random_.below(frame.size() - 14);
  random_bytes(MutableBytes(frame).first(size));
  const Segment segment = any_segment();
  wire::EthernetHeader ethernet = header(segment);
  const wire::EtherType types[] = {wire::EtherType::kIpv4, wire::EtherType::kIpv6,
                                   wire::EtherType::kArp, static_cast<wire::EtherType>(0x88cc)};
  ethernet.type = types[random_.below(std::size(types))];
  wire::write_ethernet(ethernet, frame);
  if (ethernet.type == wire::EtherType::kIpv4 && random_.chance(0.5)) frame[14] = std::byte{0x45};
  if (ethernet.type == wire::EtherType::kIpv6 && random_.chance(0.5)) frame[14] = std::byte{0x60};
  host_->send_raw(ConstBytes(frame).first(size));
}

}  // namespace satrelay::sim
