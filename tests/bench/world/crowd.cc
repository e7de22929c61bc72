#include "tests/bench/world/crowd.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "pep/stp/numbers/received_packets.h"
#include "pep/stp/wire/packet.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/open_metadata.h"
#include "tests/bench/world/arp_reply.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::bench {
namespace {

using gateway::kGatewayMac;
using gateway::kHostMac;
using gateway::kPeerMac;
using gateway::kServerMac;
using gateway::PortId;

constexpr std::uint64_t kOwnEpoch = 1;
constexpr std::size_t kLargest = 1472;
constexpr std::uint16_t kStpPort = 7878;

IpAddress numbered(std::uint8_t first, std::size_t i) {
  return IpAddress::v4({first, static_cast<std::uint8_t>(i >> 16),
                        static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)});
}

config::Gateway config_for(const Crowd::Spec& spec) {
  // A peer outside of the subnet is behind a router.
  const bool routed = spec.hosts == Crowd::Hosts::kUnknown;
  config::Gateway config = test::gateway_config(
      {.subnet = "192.0.2.0/24", .next_hop = routed ? "192.0.2.2" : "", .rate = spec.rate},
      {test::peer_config("peer", routed ? "192.0.3.2" : "192.0.2.2", {"10.0.0.0/8"})});
  for (std::size_t i = 1; i < spec.speaking_peers; ++i) {
    const IpAddress address = numbered(192, 0x0202U + i);
    config.peers.push_back(
        test::peer_config("peer-" + std::to_string(i), address, {IpPrefix{address, 32}}));
  }
  for (std::size_t i = 0; i < spec.silent_peers; ++i) {
    const IpAddress address = numbered(11, i);
    config.peers.push_back(
        test::peer_config("silent-" + std::to_string(i), address, {IpPrefix{address, 32}}));
  }
  config.rules = {{}};
  config.stp.port = kStpPort;
  // One host may have half of the table. One of many peers may have half beside its own part, too
  // (docs/configuration.md).
  const bool halved = spec.one_server || spec.silent_peers > 0 || spec.speaking_peers > 1;
  config.limits.flows = config.limits.half_open = halved ? 131072 : 65536;
  config.limits.memory = ByteCount(spec.memory);
  config.limits.idle_timeout = spec.idle_timeout;
  return config;
}

double thread_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// An older engine does not count.
template <typename Engine>
std::uint64_t visited(const Engine& engine) {
  if constexpr (requires { engine.visited(); }) {
    return engine.visited();
  } else {
    return 0;
  }
}

template <typename Engine>
std::uint64_t worked(const Engine& engine) {
  if constexpr (requires { engine.worked(); }) {
    return engine.worked();
  } else {
    return 0;
  }
}

// The number of an address that numbered() has made.
std::uint32_t number_of(const IpAddress& address) {
  const auto& octets = address.octets();
  return std::uint32_t{octets[1]} << 16 | std::uint32_t{octets[2]} << 8 | octets[3];
}

}  // namespace

Crowd::Crowd(const Spec& spec)
    : spec_(spec),
      config_(config_for(spec)),
      memory_(spec.memory, spec.memory / 8),
      buffer_(2048),
      peers_(spec.speaking_peers),
      begins_(spec.flows),
      ends_(spec.flows) {
  engine_ = std::make_unique<gateway::Gateway>(
      config_, gateway::Identity{.boot_epoch = kOwnEpoch, .secret = {3, 5}, .wan_mac = kGatewayMac},
      memory_.bytes(), now_);
  for (speaking_ = peers_.size(); speaking_-- > 0;) restart_peer();
  speaking_ = 0;
  if (spec.opens) open_flows(0, spec.flows);
  forget();
}

Crowd::~Crowd() = default;

void Crowd::call(const std::function<void()>& work) {
  const std::uint64_t before = visited(*engine_);
  const std::uint64_t worked_before = worked(*engine_);
  const double begin = thread_milliseconds();
  work();
  const double taken = thread_milliseconds() - begin;
  milliseconds_ += taken;
  worst_.milliseconds = std::max(worst_.milliseconds, taken);
  worst_.visited = std::max(worst_.visited, visited(*engine_) - before);
  worst_.worked = std::max(worst_.worked, worked(*engine_) - worked_before);
  ++calls_;
}

void Crowd::open_flows(std::size_t from, std::size_t end) {
  while (from < end) {
    from = say(from, end, [&](ByteWriter& frames, std::size_t i) {
      stp::write_open(frames, {stream(i), metadata(i)});
    });
    settle();
  }
}

std::vector<std::byte> Crowd::metadata(std::size_t i) const {
  gateway::OpenMetadata open;
  open.ethernet.source = kHostMac;
  open.ethernet.destination = kServerMac;
  open.ethernet.type = wire::EtherType::kIpv4;
  open.client = numbered(10, i);
  open.server = spec_.one_server ? numbered(198, 51 << 8) : numbered(198, i);
  open.client_port = 4000;
  open.server_port = 80;
  open.options.mss = 1460;
  std::vector<std::byte> bytes(gateway::kMaxOpenMetadata);
  bytes.resize(gateway::write_open_metadata(open, bytes));
  return bytes;
}

std::vector<std::byte> Crowd::server_frame(std::size_t i) const {
  wire::EthernetHeader back;
  back.source = kServerMac;
  back.destination = kHostMac;
  const IpAddress server = spec_.one_server ? numbered(198, 51 << 8) : numbered(198, i);
  return gateway::udp_frame(server.to_string(), numbered(10, i).to_string(), 9,
                            std::vector<std::byte>(8), back);
}

std::vector<std::byte> Crowd::segment_of_server(std::size_t i) const {
  wire::TcpHeader tcp;
  tcp.source_port = 80;
  tcp.destination_port = 4000;
  tcp.sequence = 8;
  tcp.flags = wire::TcpFlags::kAck;
  tcp.window = 65535;
  wire::EthernetHeader back;
  back.source = kServerMac;
  back.destination = kHostMac;
  const IpAddress server = spec_.one_server ? numbered(198, 51 << 8) : numbered(198, i);
  return gateway::tcp_frame(server.to_string(), numbered(10, i).to_string(), tcp, back);
}

std::vector<std::byte> Crowd::data_of_server(std::size_t i, std::size_t before, ConstBytes payload,
                                             std::size_t acknowledged) const {
  wire::TcpHeader tcp;
  tcp.source_port = 80;
  tcp.destination_port = 4000;
  tcp.sequence = static_cast<std::uint32_t>(8 + before);
  tcp.acknowledgment = begins_.at(i) + static_cast<std::uint32_t>(acknowledged);
  tcp.flags = wire::TcpFlags::kAck;
  tcp.window = 65535;
  wire::EthernetHeader back;
  back.source = kServerMac;
  back.destination = kHostMac;
  return gateway::tcp_frame(numbered(198, i).to_string(), numbered(10, i).to_string(), tcp, back,
                            {reinterpret_cast<const char*>(payload.data()), payload.size()});
}

// --- the peer ------------------------------------------------------------------------------------

void Crowd::hello() {
  stp::HelloFrame hello;
  hello.minimum_version = hello.maximum_version = stp::kVersion;
  hello.opens_even_streams = false;
  hello.answer_wanted = true;
  hello.epoch = peer().epoch;
  hello.peer_epoch = kOwnEpoch;
  hello.echo = peer().heard_hello;
  hello.datagram_size = kLargest;
  hello.lane_credit = 64U << 20;
  hello.stream_credit = 1U << 20;
  hello.capabilities = spec_.capabilities;
  std::vector<std::byte> packet(kLargest);
  ByteWriter frames(MutableBytes(packet).subspan(stp::kHeaderSize));
  stp::write_hello(frames, hello);
  stp::PacketHeader header;
  header.type = stp::PacketType::kHello;
  header.number = ++peer().hello_number;
  stp::write_header(header, packet.data());
  packet.resize(stp::kHeaderSize + frames.written() + stp::kTrailerSize);
  stp::SessionSeal().close(packet);
  from_wan(packet);
}

void Crowd::restart_peer() {
  ++peer().epoch;
  peer().number = 0;
  peer().heard.clear();
  for (int i = 0; i < 40; ++i) {
    hello();
    settle();
    now_ += Duration::milliseconds(50);
    settle();
    if (engine_->peers()[speaking_].state == stp::PeerState::kAlive && i > 2) return;
  }
  throw std::runtime_error("the peer was not greeted");
}

void Crowd::greet_anew() {
  ++peer().epoch;
  peer().number = 0;
  peer().heard.clear();
  hello();
  now_ += Duration::milliseconds(50);
  for (int i = 0; i < 4; ++i) poll(PortId::kWan);
  hello();
}

void Crowd::reload(const config::Gateway& next) {
  const gateway::Prepared prepared = gateway::Gateway::prepare(next);
  call([&] { engine_->reconfigure(next, now_, prepared); });
}

std::vector<std::byte> Crowd::packet(const std::function<void(ByteWriter& frames)>& write) {
  std::vector<std::byte> packet(kLargest);
  ByteWriter frames(MutableBytes(packet).subspan(stp::kHeaderSize,
                                                 kLargest - stp::kHeaderSize - stp::kTrailerSize));
  write(frames);
  stp::PacketHeader header;
  const stp::SessionSeal seal(peer().epoch, kOwnEpoch);
  header.session_tag = seal.tag();
  header.number = peer().number++;
  header.is_protected = packet[stp::kHeaderSize] == static_cast<std::byte>(stp::FrameType::kCoded);
  stp::write_header(header, packet.data());
  packet.resize(stp::kHeaderSize + frames.written() + stp::kTrailerSize);
  seal.close(packet);
  return packet;
}

std::size_t Crowd::say(std::size_t i, std::size_t end, const WriteFrame& write, std::size_t room) {
  from_wan(packet([&](ByteWriter& frames) {
    for (; i < end && frames.remaining() >= room; ++i) write(frames, i);
  }));
  return i;
}

void Crowd::say_together(std::size_t packets, const WriteFrame& write) {
  std::vector<std::vector<std::byte>> frames;
  for (std::size_t i = 0; i < packets; ++i) {
    frames.push_back(wan_frame(packet([&](ByteWriter& writer) { write(writer, i); })));
  }
  std::vector<gateway::Gateway::Arrived> arrived;
  for (const auto& frame : frames) arrived.push_back({.bytes = frame});
  std::vector<gateway::Gateway::Handled> handled(packets);
  call([&] { engine_->handle_frames(PortId::kWan, arrived, handled, now_); });
}

void Crowd::write_data(ByteWriter& frames, std::size_t flow, std::uint64_t offset,
                       ConstBytes bytes) {
  frames.u8(static_cast<std::uint8_t>(stp::FrameType::kData) | stp::kDataHasLength);
  stp::write_varint(frames, stream(flow));
  stp::write_varint(frames, offset);
  frames.u16(static_cast<std::uint16_t>(bytes.size()));
  std::ranges::copy(bytes, frames.reserve(bytes.size()).begin());
}

std::vector<std::byte> Crowd::wan_frame(ConstBytes datagram) const {
  wire::EthernetHeader ethernet;
  ethernet.source = kPeerMac;
  ethernet.destination = kGatewayMac;
  return gateway::udp_frame(config_.peers[speaking_].address.to_string(), "192.0.2.1", kStpPort,
                            std::vector<std::byte>(datagram.begin(), datagram.end()), ethernet);
}

void Crowd::from_wan(ConstBytes datagram) {
  const auto frame = wan_frame(datagram);
  call([&] { (void)engine_->handle_frame(PortId::kWan, frame, now_); });
}

// Answers ARP, and notes the number of a HELLO for the next HELLO to echo.
void Crowd::hear_wan(ConstBytes frame) {
  const gateway::Frame seen = gateway::look_at(frame);
  if (const auto reply = arp_reply(frame)) {
    (void)engine_->handle_frame(PortId::kWan, *reply, now_);
    return;
  }
  if (seen.kind != gateway::FrameKind::kUdp) return;
  const auto header = stp::parse_header(seen.payload.subspan(wire::kUdpHeaderSize));
  if (!header) return;
  const auto to = std::ranges::find(config_.peers, seen.ip.destination, &config::Peer::address);
  const auto number = static_cast<std::size_t>(to - config_.peers.begin());
  if (number >= peers_.size()) return;
  if (header->type == stp::PacketType::kHello) {
    peers_[number].heard_hello = header->number;
  } else {
    peers_[number].heard.push_back(header->number);
  }
}

void Crowd::report(const Arrived& arrived) {
  stp::ReceivedPackets received;
  for (const std::uint64_t number : peer().heard) {
    if (arrived(number)) received.record(number, now_);
  }
  for (bool complete = false; !complete;) {
    say(0, 1, [&](ByteWriter& frames, std::size_t) {
      complete = received.write_report(frames, {}, now_);
    });
  }
}

void Crowd::acknowledge() {
  report([](std::uint64_t) { return true; });
  peer().heard.clear();
}

void Crowd::close_flows(std::size_t from, std::size_t end) {
  while (from < end) {
    from = say(from, end, [](ByteWriter& frames, std::size_t i) {
      frames.u8(static_cast<std::uint8_t>(stp::FrameType::kData) | stp::kDataHasLength |
                stp::kDataFin);
      stp::write_varint(frames, stream(i));
      stp::write_varint(frames, 0);
      frames.u16(0);
    });
    settle();
    acknowledge();
    settle();
  }
}

// --- the hosts -----------------------------------------------------------------------------------

void Crowd::answer(ConstBytes frame) {
  const gateway::Frame seen = gateway::look_at(frame);
  if (seen.kind != gateway::FrameKind::kTcp) return;
  const auto tcp = wire::parse_tcp(seen.payload);
  using Flags = wire::TcpFlags;
  if (!tcp) return;
  const bool is_syn = tcp->header.has(Flags::kSyn);
  const bool is_fin = tcp->header.has(Flags::kFin);
  const bool acknowledges = spec_.hosts == Hosts::kAcknowledge;
  const std::size_t data = seen.payload.size() - tcp->header_size;
  const std::uint32_t server = number_of(seen.ip.destination);
  if (server < ends_.size()) {
    ends_[server] = tcp->header.sequence + static_cast<std::uint32_t>(data) + (is_syn ? 1 : 0);
  }
  if (!is_syn && !is_fin && !(acknowledges && data > 0)) return;
  if (is_syn) {
    ++syns_;
    if (server < begins_.size()) begins_[server] = tcp->header.sequence + 1;
  }
  if (spec_.hosts != Hosts::kAnswer && !acknowledges) return;
  wire::TcpHeader reply;
  reply.source_port = tcp->header.destination_port;
  reply.destination_port = tcp->header.source_port;
  reply.sequence = is_syn ? 7 : 8;
  reply.acknowledgment =
      tcp->header.sequence + static_cast<std::uint32_t>(data) + (is_syn || is_fin ? 1 : 0);
  reply.flags = static_cast<std::uint8_t>((is_syn   ? Flags::kSyn
                                           : is_fin ? Flags::kFin
                                                    : 0) |
                                          Flags::kAck);
  reply.window = 65535;
  if (is_syn) {
    reply.options.mss = spec_.mss;
    if (spec_.window_scale > 0) reply.options.window_scale = spec_.window_scale;
    reply.options.sack_permitted = spec_.window_scale > 0;
  }
  wire::EthernetHeader back = seen.ethernet;
  std::swap(back.source, back.destination);
  answers_.push_back(
      gateway::tcp_frame(seen.ip.destination.to_string(), seen.ip.source.to_string(), reply, back));
}

void Crowd::from_lan(const std::vector<std::byte>& frame) {
  call([&] { (void)engine_->handle_frame(PortId::kLan, frame, now_); });
}

void Crowd::from_lan(std::span<const std::vector<std::byte>> frames) {
  std::vector<gateway::Gateway::Arrived> arrived;
  for (const auto& frame : frames) arrived.push_back({.bytes = frame});
  std::vector<gateway::Gateway::Handled> handled(frames.size());
  call([&] { engine_->handle_frames(PortId::kLan, arrived, handled, now_); });
}

// --- the engine ----------------------------------------------------------------------------------

bool Crowd::poll(PortId port) {
  gateway::Polled polled;
  call([&] { polled = engine_->poll_frame(port, buffer_, now_); });
  if (polled.kind == gateway::Polled::Kind::kNothing) return false;
  if (polled.kind == gateway::Polled::Kind::kHeld) return true;
  if (polled.kind == gateway::Polled::Kind::kDropped) return true;
  const auto frame = ConstBytes(buffer_).first(polled.size);
  if (port == PortId::kLan) {
    answer(frame);
  } else {
    hear_wan(frame);
  }
  return true;
}

std::size_t Crowd::poll_burst() {
  constexpr std::size_t kMostFrames = 32;
  std::array<std::array<std::byte, 2048>, kMostFrames> frames;
  std::array<MutableBytes, kMostFrames> rooms;
  std::array<gateway::Polled, kMostFrames> polled;
  for (std::size_t i = 0; i < kMostFrames; ++i) rooms[i] = frames[i];
  std::size_t count = 0;
  call([&] { count = engine_->poll_frames(PortId::kWan, rooms, polled, now_); });
  for (std::size_t i = 0; i < count; ++i) {
    if (polled[i].kind == gateway::Polled::Kind::kWritten) hear_wan(rooms[i].first(polled[i].size));
  }
  return count;
}

void Crowd::settle() {
  constexpr int kMostRounds = 1'000'000;
  for (int round = 0; round < kMostRounds; ++round) {
    if (engine_->next_timeout() <= now_) call([&] { engine_->handle_timeout(now_); });
    while (poll(PortId::kLan)) {
    }
    while (poll(PortId::kWan)) {
    }
    if (answers_.empty() && engine_->next_timeout() > now_) return;
    for (const auto& frame : std::exchange(answers_, {})) from_lan(frame);
  }
  throw std::runtime_error("the engine always has something to do");
}

void Crowd::pass(Duration time, bool peer_speaks) {
  const Instant end = now_ + time;
  while (now_ < end) {
    now_ = earlier(end, now_ + Duration::milliseconds(100));
    if (peer_speaks) {
      say(0, 1, [](ByteWriter& frames, std::size_t) { stp::write_ping(frames, {0}); });
    }
    settle();
  }
}

}  // namespace satrelay::bench
