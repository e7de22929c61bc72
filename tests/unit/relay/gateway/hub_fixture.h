// A hub with two terminals, which send what a test tells them to.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pep/wire/arp.h"
#include "relay/gateway/frames/open_metadata.h"
#include "relay/gateway/gateway.h"
#include "tests/fuzz/fuzz_peer.h"
#include "tests/support/gateway_config.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway {

// Two terminals. A third peer has all other addresses.
inline config::Gateway hub() {
  config::Gateway config = test::gateway_config(
      {.subnet = "192.0.2.0/29"},
      {test::peer_config("t1", "192.0.2.2", {"10.1.0.0/16", "2001:db8:1::/48"}),
       test::peer_config("t2", "192.0.2.3", {"10.2.0.0/16", "2001:db8:2::/48"})});
  config.limits.flows = 16;
  config.limits.half_open = 8;
  config.limits.memory = ByteCount(8U << 20);
  return config;
}

inline OpenMetadata open_of(std::string_view client, std::string_view server) {
  OpenMetadata open;
  open.ethernet = host_to_server();
  open.client = ip_of(client);
  open.server = ip_of(server);
  open.client_port = 40'000;
  open.server_port = 80;
  open.options.mss = 1460;
  return open;
}

class HubTest : public testing::Test {
 protected:
  using Knows = FuzzPeer::LanReports;
  explicit HubTest(const config::Gateway& config = hub(), Knows second = Knows::kUnderstood)
      : config_(config),
        memory_(config.limits.memory.value()),
        terminals_{
            {7, BitRate::bits_per_second(10'000'000), now_},
            {8, BitRate::bits_per_second(10'000'000), now_, FuzzPeer::Streams::kOdd, {}, second}} {
    hub_ = std::make_unique<Gateway>(
        config_, Identity{.boot_epoch = 1, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_,
        now_);
    for (int i = 0; i < 40; ++i) step();
    for (const PeerSnapshot& peer : hub_->peers()) {
      EXPECT_EQ(peer.state, stp::PeerState::kAlive) << peer.name;
    }
  }

  void step() {
    now_ += Duration::milliseconds(100);
    if (hub_->next_timeout() <= now_) hub_->handle_timeout(now_);
    for (int round = 0; round < 8; ++round) {
      for (std::size_t peer = 0; peer < 2; ++peer) speak(peer);
      poll();
    }
  }
  void poll() {
    FrameBytes frame(hub_->max_frame_size());
    while (const std::size_t size = hub_->poll_frame(PortId::kWan, frame, now_).size) {
      carry(ConstBytes(frame).first(size));
    }
    while (const std::size_t size = hub_->poll_frame(PortId::kLan, frame, now_).size) {
      on_lan_.emplace_back(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
    }
  }
  void speak(std::size_t peer) {
    stp::Session& session = terminals_[peer].session();
    if (session.next_timeout() <= now_) session.handle_timeout(now_);
    std::array<std::byte, 1472> packet{};
    while (const std::size_t size = session.poll_packet(packet, now_)) {
      hub_->handle_frame(
          PortId::kWan,
          stp_frame(ConstBytes(packet).first(size),
                    {kPeerMac, kGatewayMac, config_.peers[peer].address, config_.gateway.own}),
          now_);
    }
    while (const auto event = session.poll_event()) {
      if (event->kind == stp::Event::Kind::kReset) reasons_[peer].push_back(event->reason);
      if (event->kind == stp::Event::Kind::kOpened) {
        streams_[peer].push_back(event->stream);
        const auto open = parse_open_metadata(session.streams().metadata(event->stream));
        if (open) opened_[peer].push_back(*open);
      }
    }
  }
  void carry(ConstBytes bytes) {
    const Frame frame = look_at(bytes);
    if (frame.kind == FrameKind::kArp) {
      const auto arp = wire::parse_arp(frame.payload);
      FrameBytes reply(60);
      wire::EthernetHeader header;
      header.source = kPeerMac;
      header.destination = kGatewayMac;
      header.type = wire::EtherType::kArp;
      wire::write_ethernet(header, reply);
      wire::write_arp({.operation = wire::ArpOperation::kReply,
                       .sender_mac = kPeerMac,
                       .sender = arp->target,
                       .target_mac = kGatewayMac,
                       .target = config_.gateway.own},
                      MutableBytes(reply).subspan(header.size()));
      hub_->handle_frame(PortId::kWan, reply, now_);
      return;
    }
    if (frame.kind != FrameKind::kUdp) return;
    for (std::size_t peer = 0; peer < 2; ++peer) {
      if (frame.ip.destination != config_.peers[peer].address || deaf_[peer]) continue;
      terminals_[peer].session().handle_packet(frame.payload.subspan(wire::kUdpHeaderSize), now_);
    }
  }

  void open(std::size_t peer, const OpenMetadata& metadata) {
    std::array<std::byte, kMaxOpenMetadata> bytes{};
    const std::size_t size = write_open_metadata(metadata, bytes);
    terminals_[peer].open(ConstBytes(bytes).first(size), now_);
    step();
    step();
  }
  struct Syn {
    Frame frame;
    wire::TcpHeader tcp;
  };
  // The SYN that the hub has sent on its LAN.
  std::optional<Syn> syn_on_lan() {
    for (const FrameBytes& bytes : on_lan_) {
      const Frame frame = look_at(bytes);
      const auto tcp = wire::parse_tcp(frame.payload);
      if (frame.kind == FrameKind::kTcp && tcp && tcp->header.flags == wire::TcpFlags::kSyn) {
        return Syn{frame, tcp->header};
      }
    }
    return std::nullopt;
  }
  Verdict lan(const FrameBytes& frame) { return hub_->handle_frame(PortId::kLan, frame, now_); }
  std::uint64_t count(Counter counter) const { return hub_->counters()[counter]; }
  static wire::TcpHeader syn(std::uint32_t sequence) {
    wire::TcpHeader tcp;
    tcp.source_port = 40'000;
    tcp.destination_port = 80;
    tcp.sequence = sequence;
    tcp.flags = wire::TcpFlags::kSyn;
    tcp.window = 64240;
    tcp.options.mss = 1460;
    return tcp;
  }

  Instant now_ = Instant::from_nanoseconds(1);
  const config::Gateway config_;
  std::vector<std::byte> memory_;
  std::unique_ptr<Gateway> hub_;
  FuzzPeer terminals_[2];  // the second may be an older one
  bool deaf_[2] = {};      // gets no packets any more
  std::vector<stp::ResetReason> reasons_[2];
  std::vector<OpenMetadata> opened_[2];
  std::vector<stp::StreamId> streams_[2];  // that the hub has opened
  std::vector<FrameBytes> on_lan_;
};

}  // namespace satrelay::gateway
