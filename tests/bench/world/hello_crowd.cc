#include "tests/bench/world/hello_crowd.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <utility>

#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "pep/wire/udp.h"
#include "relay/gateway/frames/frame.h"
#include "tests/bench/world/arp_reply.h"
#include "tests/bench/world/drive.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::bench {
namespace {

using gateway::kGatewayMac;
using gateway::kPeerMac;
using gateway::PortId;

constexpr std::uint64_t kOwnBoot = 1'700'000'000'000'000'000;
constexpr std::uint16_t kFirstPort = 7878;

IpAddress address_of(std::uint16_t peer) {
  return IpAddress::v4(
      {198, 51, static_cast<std::uint8_t>(peer >> 8), static_cast<std::uint8_t>(peer)});
}

crypto::Psk secret_of(std::uint16_t peer, std::uint8_t which) {
  crypto::Psk psk;
  store_u16(psk.bytes().data(), peer);
  store_u8(psk.bytes().data() + 2, which);
  return psk;
}

config::Gateway config_for(const HelloCrowd::Spec& spec) {
  config::Gateway config = test::gateway_config({.subnet = "192.0.2.0/24",
                                                 .next_hop = "192.0.2.2",
                                                 .rate = BitRate::bits_per_second(1'000'000'000)},
                                                {});
  for (std::uint16_t i = 0; i < spec.peers; ++i) {
    const auto high = static_cast<std::uint8_t>(i >> 8), low = static_cast<std::uint8_t>(i);
    config::Peer peer = test::peer_config("peer-" + std::to_string(i), address_of(i),
                                          {IpPrefix{IpAddress::v4({10, high, low, 0}), 24}});
    peer.workers = spec.lanes;
    if (spec.encrypts) {
      peer.security.keys.emplace();
      peer.security.keys->current = secret_of(i, 1);
      if (spec.two_secrets) peer.security.keys->other = secret_of(i, 2);
    }
    config.peers.push_back(std::move(peer));
  }
  config.rules = {{}};
  config.stp.port = kFirstPort;
  config.limits.flows = 1024;
  config.limits.half_open = 1024;
  config.limits.memory = ByteCount(spec.memory);
  return config;
}

std::vector<std::byte> names_of(const IpAddress& a, const IpAddress& b) {
  const std::string text = std::min(a, b).to_string() + ' ' + std::max(a, b).to_string() + ' ';
  const ConstBytes bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

double thread_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// An older build has no MAC.
template <typename Keys>
void give_mac(Keys& keys, [[maybe_unused]] bool has_mac, [[maybe_unused]] ConstBytes accepted) {
  if constexpr (requires { keys.has_mac; }) {
    keys.has_mac = has_mac;
    keys.accepted = accepted;
  }
}

struct Parsed {
  stp::HelloFrame frame;
  stp::HelloKeys keys;
};

Parsed parse(ConstBytes hello) {
  ByteReader in(stp::frames_of(hello));
  in.u8();
  Parsed parsed;
  parsed.frame = stp::parse_hello(in, parsed.keys);
  return parsed;
}

HelloCrowd::Bytes write(const stp::PacketHeader& header, const Parsed& hello) {
  HelloCrowd::Bytes packet(600);
  ByteWriter out(MutableBytes(packet).subspan(stp::kHeaderSize));
  stp::write_hello(out, hello.frame, hello.keys);
  packet.resize(stp::kHeaderSize + out.written() + stp::kTrailerSize);
  stp::write_header(header, packet.data());
  stp::SessionSeal().close(packet);
  return packet;
}

}  // namespace

HelloCrowd::HelloCrowd(const Spec& spec)
    : spec_(spec), config_(config_for(spec)), memory_(spec.memory, spec.memory / 8), buffer_(2048) {
  engine_ = std::make_unique<gateway::Gateway>(
      config_,
      gateway::Identity{
          .boot_epoch = kOwnBoot, .secret = {3, 5}, .wan_mac = kGatewayMac, .entropy = &entropy_},
      memory_.bytes(), now_);
  // The gateway asks for the MAC of the router in front of all peers, and gets an answer.
  rest(Duration::milliseconds(1));
}

// --- datagrams -----------------------------------------------------------------------------------

sim::StpSpeaker HelloCrowd::speaker(const Session& of, std::uint64_t epoch) {
  sim::StpSpeaker::Config config;
  config.epoch = epoch;
  config.lane = {of.lane, spec_.lanes};
  config.opens_even_streams = address_of(of.peer) < config_.gateway.own;
  if (spec_.encrypts) {
    config.security = stp::Security{.psk = secret_of(of.peer, 1),
                                    .other = std::nullopt,
                                    .entropy = &entropy_of_peers_,
                                    .names = names_of(address_of(of.peer), config_.gateway.own)};
  }
  config.lane_credit = config.stream_credit = 1U << 20;
  return {config, now_};
}

std::vector<HelloCrowd::Bytes> HelloCrowd::recorded(const Session& from, std::uint64_t epoch,
                                                    std::size_t count) {
  sim::StpSpeaker peer = speaker(from, epoch);
  std::vector<Bytes> hellos;
  for (std::size_t i = 0; i < count; ++i) {
    hellos.push_back(peer.hello(now_ + Duration::seconds(static_cast<std::int64_t>(i))));
  }
  return hellos;
}

HelloCrowd::Bytes HelloCrowd::forged(Bytes hello) {
  const std::size_t at = stp::kHeaderSize + stp::kHelloFrameSize;
  const std::size_t offer = load_u16(hello.data() + at);
  for (std::size_t i = 0; i < offer; ++i) {
    hello[at + 2 + i] = static_cast<std::byte>(random_.next());
  }
  for (std::size_t i = at + 2 + offer + 2; i < hello.size() - stp::kTrailerSize; ++i) {
    hello[i] = static_cast<std::byte>(random_.next());
  }
  stp::SessionSeal().close(hello);
  return hello;
}

HelloCrowd::Bytes HelloCrowd::forged_acceptance(const Bytes& hello, bool has_mac) {
  Parsed parsed = parse(hello);
  Bytes accept(103);
  for (std::byte& octet : accept) octet = static_cast<std::byte>(random_.next());
  parsed.frame.peer_epoch = kOwnBoot;
  parsed.keys = {{}, accept};
  give_mac(parsed.keys, has_mac, ConstBytes(accept).first(16));
  return write(*stp::parse_header(hello), parsed);
}

HelloCrowd::Bytes HelloCrowd::without_mac(const Bytes& hello) {
  Parsed parsed = parse(hello);
  give_mac(parsed.keys, false, {});
  return write(*stp::parse_header(hello), parsed);
}

HelloCrowd::Bytes HelloCrowd::with_wrong_checksum(Bytes hello) {
  hello.back() ^= std::byte{1};
  return hello;
}

HelloCrowd::Bytes HelloCrowd::stranger(const Session& from, std::size_t size) {
  Bytes packet(size);
  for (std::byte& octet : packet) octet = static_cast<std::byte>(random_.next());
  stp::write_header({.lane = from.lane,
                     .session_tag = static_cast<std::uint16_t>(random_.next()),
                     .number = static_cast<std::uint32_t>(random_.next())},
                    packet.data());
  return packet;
}

HelloCrowd::Bytes HelloCrowd::frame_of(const Session& from, const Bytes& datagram) const {
  wire::EthernetHeader ethernet;
  ethernet.source = kPeerMac;
  ethernet.destination = kGatewayMac;
  return gateway::udp_frame(address_of(from.peer).to_string(), "192.0.2.1",
                            static_cast<std::uint16_t>(kFirstPort + from.lane), datagram, ethernet);
}

// --- the gateway ---------------------------------------------------------------------------------

void HelloCrowd::flood(std::span<const Bytes> frames, std::size_t per_second, Duration time) {
  const Instant end = now_ + time;
  std::array<Bytes, kBurst> rooms;  // The buffers of a port, which are in the caches.
  const Duration step = Duration::seconds(1) * static_cast<std::int64_t>(kBurst) /
                        static_cast<std::int64_t>(per_second);
  std::array<gateway::Gateway::Arrived, kBurst> arrived;
  std::array<gateway::Gateway::Handled, kBurst> handled;
  for (; now_ < end; now_ += step) {
    if (!frames.empty()) {
      for (std::size_t i = 0; i < kBurst; ++i) {
        rooms[i] = frames[next_++ % frames.size()];
        arrived[i] = {.bytes = rooms[i]};
      }
    }
    const double begin = thread_nanoseconds();
    if (!frames.empty()) engine_->handle_frames(PortId::kWan, arrived, handled, now_);
    if (engine_->next_timeout() <= now_) engine_->handle_timeout(now_);
    poll();
    nanoseconds_ += thread_nanoseconds() - begin;
    run_guest();
    for (const Bytes& frame : std::exchange(to_show_, {})) {
      (void)engine_->handle_frame(PortId::kWan, frame, now_);
    }
  }
}

void HelloCrowd::poll() {
  for (const PortId port : {PortId::kLan, PortId::kWan}) {
    for (;;) {
      const gateway::Polled polled = engine_->poll_frame(port, buffer_, now_);
      if (polled.kind == gateway::Polled::Kind::kNothing) break;
      if (port != PortId::kWan) continue;
      ++frames_out_;
      hear(ConstBytes(buffer_).first(polled.size));
    }
  }
}

void HelloCrowd::hear(ConstBytes frame) {
  if (const auto reply = arp_reply(frame)) to_show_.push_back(*reply);
  if (!guest_) return;
  const gateway::Frame seen = gateway::look_at(frame);
  if (seen.kind != gateway::FrameKind::kUdp || seen.ip.destination != address_of(guest_->of.peer)) {
    return;
  }
  const ConstBytes datagram = seen.payload.subspan(wire::kUdpHeaderSize);
  guest_->to_it.emplace_back(now_ + guest_->way, Bytes(datagram.begin(), datagram.end()));
}

// --- a genuine peer ------------------------------------------------------------------------------

void HelloCrowd::invite(const Session& of, std::uint64_t epoch, Duration round_trip) {
  guest_.emplace(Guest{.of = of,
                       .speaker = speaker(of, epoch),
                       .way = round_trip / 2,
                       .first_arrival = std::nullopt,
                       .met = std::nullopt,
                       .to_it = {},
                       .to_us = {}});
}

void HelloCrowd::run_guest() {
  if (!guest_) return;
  Guest& guest = *guest_;
  for (; !guest.to_it.empty() && guest.to_it.front().first <= now_; guest.to_it.pop_front()) {
    (void)guest.speaker.handle_packet(guest.to_it.front().second, now_);
  }
  while (guest.speaker.next_hello() <= now_) {
    guest.to_us.emplace_back(now_ + guest.way, frame_of(guest.of, guest.speaker.hello(now_)));
  }
  for (; !guest.to_us.empty() && guest.to_us.front().first <= now_; guest.to_us.pop_front()) {
    if (!guest.first_arrival) guest.first_arrival = now_;
    (void)engine_->handle_frame(PortId::kWan, guest.to_us.front().second, now_);
  }
  const auto lane = static_cast<std::size_t>(guest.of.peer) * spec_.lanes + guest.of.lane;
  if (!guest.met && guest.speaker.can_send() &&
      engine_->peers(lane, 1).front().state == stp::PeerState::kAlive) {
    guest.met = now_;
  }
}

std::optional<Duration> HelloCrowd::time_to_meet() const {
  if (!guest_ || !guest_->met) return std::nullopt;
  return *guest_->met - *guest_->first_arrival;
}

}  // namespace satrelay::bench
