// One far gateway: its session and the carrier it is reached over.
#pragma once

#include <memory>
#include <string>

#include "config/schema.h"
#include "pep/base/time.h"
#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"
#include "pep/stp/session.h"
#include "relay/gateway/bridged_share.h"
#include "relay/gateway/liaison.h"
#include "relay/gateway/link_way.h"

namespace satrelay::gateway {

// A satellite carrier. Peers may share one, and bridged frames are debited to it.
struct Carrier {
  explicit Carrier(const config::Link& link);
  BitRate& capacity(LinkWay way) {
    return way == LinkWay::kSend ? send_capacity : receive_capacity;
  }
  BitRate configured(LinkWay way) const {
    return way == LinkWay::kSend ? config.send_rate : config.receive_rate;
  }

  // Whether a bridged frame that finds no other waiting may leave at once: the carrier has room,
  // and streams have nothing to fill it with or have had their part.
  bool lets_bridged_go(Instant now) const {
    return pacer.can_send(now) && (!relayed_waits || share.bridged_has_turn());
  }
  // Bytes of bridged frames that may wait.
  ByteCount held_limit() const;

  config::Link config;
  control::Pacer pacer;
  BridgedShare share;
  bool relayed_waits =
      false;  // as far as is known: sessions were asked last while there was no room
  // As the operator says; never above what is configured.
  BitRate send_capacity;
  BitRate receive_capacity;
};

// The controller that the link's configuration names.
std::unique_ptr<control::RateController> make_controller(const config::Link& link);

struct Peer {
  Peer(const config::Peer& peer_config, Carrier& peer_carrier, const stp::Config& stp_config,
       Arena& arena, stp::StreamSource& source, std::uint64_t receive_limit, std::size_t number,
       std::uint32_t message_context, std::uint32_t most_flows, Instant now)
      : config(peer_config),
        carrier(peer_carrier),
        controller(make_controller(peer_carrier.config)),
        lane_receive_limit(receive_limit),
        datagram_overhead(stp_config.datagram_overhead),
        session(stp_config, arena, peer_carrier.pacer, *controller, source, now),
        liaison(session, number, message_context, most_flows) {}

  config::Peer config;
  Carrier& carrier;
  std::unique_ptr<control::RateController> controller;
  std::uint64_t lane_receive_limit;  // bytes that the peer may have stored here
  std::uint16_t datagram_overhead;   // IP and UDP headers
  stp::Session session;
  Liaison liaison;
  BitRate most_rate;  // to be sent to it, as the operator says; zero: all there is
  Instant suspect_since = Instant::never();
};

}  // namespace satrelay::gateway
