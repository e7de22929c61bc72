// One far gateway: its session and the carrier it is reached over.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "config/schema.h"
#include "pep/base/time.h"
#include "pep/control/pacer.h"
#include "pep/control/rate_controller.h"
#include "pep/stp/session.h"
#include "relay/gateway/peers/liaison.h"
#include "relay/gateway/peers/shared_dictionaries.h"
#include "relay/gateway/peers/upheavals.h"
#include "relay/gateway/uplink/class_order.h"
#include "relay/gateway/uplink/link_way.h"

namespace satrelay::gateway {

// A satellite carrier. Peers may share one, and bridged frames are debited to it.
struct Carrier {
  // `sources`: of what it carries, see ClassOrder. `most_hosts`: that may wait for it.
  Carrier(const config::Link& link, std::size_t sources, std::size_t most_hosts);
  BitRate& capacity(LinkWay way) {
    return way == LinkWay::kSend ? send_capacity : receive_capacity;
  }
  BitRate configured(LinkWay way) const {
    return way == LinkWay::kSend ? config.send_rate : config.receive_rate;
  }

  // Bytes of bridged frames of a class that may wait.
  ByteCount held_limit(stp::ClassId traffic_class) const;

  config::Link config;
  control::Pacer pacer;
  ClassOrder classes;
  stp::HostShares host_shares;
  // Who sends next: a class, and of its sources the bridged frames (0) or the peer before `source`.
  struct Choice {
    stp::ClassId traffic_class = 0;
    std::size_t source = 0;
  };
  std::optional<Choice> choice;  // of the poll that goes on
  // As the operator says; never above what is configured.
  BitRate send_capacity;
  BitRate receive_capacity;
};

// The controller that the link's configuration names.
std::unique_ptr<control::RateController> make_controller(const config::Link& link);

struct Peer {
  Peer(const config::Peer& peer_config, Carrier& peer_carrier, const stp::Config& stp_config,
       Arena& arena, stp::StreamSource& source, std::size_t number, std::uint32_t most_flows,
       Instant now)
      : config(peer_config),
        carrier(peer_carrier),
        controller(make_controller(peer_carrier.config)),
        datagram_overhead(stp_config.datagram_overhead),
        session(stp_config, arena, peer_carrier.pacer, *controller, source, now),
        liaison(session, number, most_flows) {
    config.security.forget_keys();  // the session has them
  }

  // What the operator allows to be sent to it, if that is below what is configured; else zero.
  BitRate commanded() const;

  config::Peer config;
  Carrier& carrier;
  std::unique_ptr<control::RateController> controller;
  std::uint16_t datagram_overhead;  // IP and UDP headers
  stp::Session session;
  Liaison liaison;
  SharedDictionaries dictionaries;
  BitRate most_rate;  // to be sent to it, as the operator says; zero: all there is
  Instant suspect_since = Instant::never();
  Upheavals upheavals;           // of its flows
  std::size_t flows = 0;         // that there are
  std::size_t flows_behind = 0;  // that the last upheaval has yet to reach
};

}  // namespace satrelay::gateway
