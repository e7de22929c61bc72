// A lane with a live session to a far gateway that does what a test says. For tests of units that
// use sessions.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "relay/gateway/ids.h"
#include "relay/gateway/peers/lane.h"
#include "tests/fuzz/fuzz_peer.h"
#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway {

inline config::Link link_of(BitRate rate) {
  config::Link link;
  link.name = "sat";
  link.send_rate = link.receive_rate = rate;
  return link;
}

class LivePeer final : public stp::StreamSource, public LanReportReader {
 public:
  enum class Speaks : std::uint8_t { kOlder, kHostWords };
  void handle_report(LaneId, const LanReport&) override {}
  // `now` advances by some tens of milliseconds.
  LivePeer(Carrier& carrier, Instant& now, stp::FecMode fec = stp::FecMode::kAuto,
           Speaks speaks = Speaks::kOlder)
      : memory_(1U << 20),
        arena_(memory_, 4096),
        peer_({.name = "far", .address = ip_of("192.0.2.2"), .prefixes = {}, .links = {"sat"}},
              {LinkId()}, {LaneId(), LaneId(1)}, arena_, {}),
        far_(7, carrier.config.send_rate, now) {
    stp::Config stp;
    stp.boot_epoch = 1;
    stp.opens_even_streams = true;
    stp.datagram.overhead = 28;
    stp.repair.mode = fec;
    if (speaks == Speaks::kHostWords) stp.relay_capabilities = stp::kCapabilityHostWords;
    stp.streams.max_streams = 16;
    stp.streams.host_shares = &carrier.host_shares;
    stp.streams.lane_receive_limit = stp.streams.receive_limit = stp.streams.send_limit = 1U << 18;
    lanes.push_back(std::make_unique<Lane>(peer_, carrier, stp, *this, *this, LaneId(),
                                           LaneAddress{}, 16, now));
    for (int i = 0; i < 20; ++i) exchange(now);
    EXPECT_EQ(session().peer_state(), stp::PeerState::kAlive);
  }

  stp::Session& session() { return lanes.front()->session; }
  stp::Session& far() { return far_.session(); }
  Arena& arena() { return peer_.arena; }  // of the session
  // 5 ms pass, and then both ends send all that they have.
  void exchange(Instant& now) {
    now += Duration::milliseconds(5);
    if (session().next_timeout() <= now) session().handle_timeout(now);
    if (far().next_timeout() <= now) far().handle_timeout(now);
    std::array<std::byte, 1472> packet{};
    while (const std::size_t size = session().poll_packet(packet, now)) {
      far().handle_packet(ConstBytes(packet).first(size), now);
    }
    while (const std::size_t size = far().poll_packet(packet, now)) {
      session().handle_packet(ConstBytes(packet).first(size), now);
    }
  }
  void produce(stp::StreamId id, std::uint32_t, Instant now) override {
    if (producer) {
      producer(now);
    } else {
      session().streams().set_ready(id, false);
    }
  }

 private:
  std::vector<std::byte> memory_;
  Arena arena_;
  FarGateway peer_;
  FuzzPeer far_;

 public:
  Lanes lanes;  // one
  // Called when a stream may send. Without it no stream has bytes.
  std::function<void(Instant)> producer;
};

}  // namespace satrelay::gateway
