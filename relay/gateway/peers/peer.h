// One lane to a far gateway: its session, the carrier it is reached over, what is told it beside
// flows, and what has happened to all of its flows at once. With one worker at both ends there is
// one for each far gateway.
#pragma once

#include <memory>
#include <string>

#include "config/model/schema.h"
#include "pep/base/containers/ready_set.h"
#include "pep/base/time.h"
#include "pep/control/rate_controller.h"
#include "pep/stp/session.h"
#include "relay/gateway/peers/control_messages.h"
#include "relay/gateway/peers/peer_epoch_log.h"
#include "relay/gateway/peers/shared_dictionaries.h"
#include "relay/gateway/steering/lanes.h"
#include "relay/gateway/uplink/carrier.h"

namespace satrelay::gateway {

// The controller that the link's configuration names.
std::unique_ptr<control::RateController> make_controller(const config::Link& link);

struct Peer {
  Peer(const config::Peer& peer_config, Carrier& peer_carrier, const stp::Config& stp_config,
       Arena& arena, stp::StreamSource& source, LanReportReader& reader, std::size_t number,
       const Lane& its_lane, std::uint32_t most_flows, Instant now)
      : config(peer_config),
        lane(its_lane),
        carrier(peer_carrier),
        controller(make_controller(peer_carrier.config)),
        datagram_overhead(stp_config.datagram_overhead),
        session(stp_config, arena, peer_carrier.pacer, *controller, source, now),
        control_messages(session, number, its_lane, config.prefixes, most_flows, reader) {
    config.security.forget_keys();  // the session has them
  }

  config::Peer config;
  Lane lane;
  Carrier& carrier;
  std::unique_ptr<control::RateController> controller;
  std::uint16_t datagram_overhead;  // IP and UDP headers
  stp::Session session;
  ControlMessages control_messages;
  SharedDictionaries dictionaries;
  ReadySet::Bell bell = {};                  // to be rung by who has something for it to say
  Instant suspect_since = Instant::never();  // never: it is alive
  Instant silence = Instant::never();        // silent_since(), as its flows know it
  PeerEpochLog epoch_log;                    // of its flows
  std::size_t flows = 0;                     // that there are
  std::uint64_t flows_refused = 0;           // so far, for want of room
  std::size_t flows_behind = 0;              // that the last upheaval has yet to reach

  // Since when it has taken nothing of what is sent to it, or has said nothing; never: it is there.
  // Where only the way to it is gone, it is heard all the time.
  Instant silent_since() const { return earlier(suspect_since, session.unreported_since()); }
};

}  // namespace satrelay::gateway
