// One lane to a far gateway: its session, its carrier, its control messages, and the log of events
// that concern all of its flows. If both gateways have a single worker, there is one lane to each
// far gateway.
#pragma once

#include <memory>

#include "config/model/schema.h"
#include "pep/base/containers/ready_set.h"
#include "pep/base/time.h"
#include "pep/control/rate_controller.h"
#include "pep/stp/session.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/peers/control_messages.h"
#include "relay/gateway/peers/far_gateway.h"
#include "relay/gateway/peers/peer_epoch_log.h"
#include "relay/gateway/peers/shared_dictionaries.h"
#include "relay/gateway/steering/lane_addresses.h"
#include "relay/gateway/uplink/carrier.h"

namespace satrelay::gateway {

// The controller that the link's configuration names.
std::unique_ptr<control::RateController> make_controller(const config::Link& link);

struct Lane {
  Lane(FarGateway& its_peer, Carrier& its_carrier, const stp::Config& stp_config,
       stp::StreamSource& source, LanReportReader& reader, LaneId id,
       const LaneAddress& lane_address, std::uint32_t most_flows, Instant now)
      : peer(its_peer),
        address(lane_address),
        carrier(its_carrier),
        controller(make_controller(its_carrier.config)),
        datagram_overhead(stp_config.datagram.overhead),
        session(stp_config, its_peer.arena, its_carrier.pacer, *controller, source, now),
        control_messages(session, id, lane_address, its_peer.config.prefixes, most_flows, reader) {}

  FarGateway& peer;
  LaneAddress address;
  Carrier& carrier;
  std::unique_ptr<control::RateController> controller;
  std::uint16_t datagram_overhead;  // size of IP and UDP headers
  stp::Session session;
  ControlMessages control_messages;
  SharedDictionaries dictionaries;
  ReadySet<LaneId>::Bell bell = {};  // ring this when the session may have something to send
  // When the peer became suspect; never() if the peer is alive.
  Instant suspect_since = Instant::never();
  Instant silence = Instant::never();  // silent_since() at the last visit of the lane's flows
  PeerEpochLog epoch_log;              // events that concern all its flows
  std::size_t flows = 0;               // number of its flows in the flow table
  std::uint64_t flows_refused = 0;     // number of flows refused so far, since there was no room
  // Number of flows that have not handled the latest event of epoch_log yet.
  std::size_t flows_behind = 0;

  // When the peer stopped sending packets or stopped reporting on our packets; never() if it does
  // both. Packets from the peer alone do not show that the peer receives ours.
  Instant silent_since() const { return earlier(suspect_since, session.path().unreported_since()); }
};

// All lanes of a worker.
using Lanes = IdVector<LaneId, std::unique_ptr<Lane>>;

}  // namespace satrelay::gateway
