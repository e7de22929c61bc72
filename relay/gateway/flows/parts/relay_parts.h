// The parts that the units of the relay share: parts of the gateway that flows use, and parts of
// the relay that store the flows, divide slots and memory, and write and read the streams. These
// parts do not decide how a flow begins, progresses or ends. The units in opening, transfer and
// ending use them, and make these decisions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/model/schema.h"
#include "pep/base/arena.h"
#include "pep/base/stopwatch.h"
#include "pep/base/time.h"
#include "pep/base/work_budget.h"
#include "pep/base/work_count.h"
#include "pep/stp/session.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/addresses/lan/lan_neighbours.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/bytes/stream_side.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/flow_deadline.h"
#include "relay/gateway/flows/hosts/host_side.h"
#include "relay/gateway/flows/hosts/host_windows.h"
#include "relay/gateway/flows/hosts/unconfirmed_flows.h"
#include "relay/gateway/flows/parts/flowless_frames.h"
#include "relay/gateway/flows/parts/room_pace.h"
#include "relay/gateway/flows/table/flow_quotas.h"
#include "relay/gateway/flows/table/flow_store.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/opening/connection_records.h"
#include "relay/gateway/peers/far_gateway.h"
#include "relay/gateway/peers/lane.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/recovery/orphaned_flows.h"
#include "relay/gateway/rules/claims.h"
#include "relay/gateway/rules/policy.h"

namespace satrelay::gateway {

// The parts of the gateway that flows use; all of them outlive the relay.
struct RelayEnvironment {
  const Policy& policy;
  const Claims& claims;
  TrafficClasses& classes;
  LanNeighbours& lan;
  MacAddress wan_mac;  // source MAC of the ARP requests that the gateway sends itself
  CommonKnowledge& common;
  const FarGateways& peers;
  WorkBudget& budget;
  // Filled after construction, since each session needs the relay as its stp::StreamSource.
  Lanes& lanes;
  ConnectionRecords& records;
  FlowJournal& journal;
  OrphanedFlows& orphans;
  Counters& counters;
};

struct RelayParts {
  RelayParts(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
             const RelayEnvironment& around, const Stopwatch* stopwatch);

  Lane& lane_of(const Flow& f) const { return *lanes[f.lane]; }
  stp::Session& session_of(const Flow& f) const { return lanes[f.lane]->session; }
  FarGatewayId peer_of(LaneId lane) const { return lanes[lane]->address.peer; }
  Arena& arena_of(LaneId lane) const { return lanes[lane]->peer.arena; }
  // Whether the flow has not handled the latest event of its peer (peer_epoch_log.h).
  bool is_behind(const Flow& f) const { return f.handled.epochs != lane_of(f).epoch_log.count(); }
  // How many bytes the flow's host may be ahead of the link.
  std::uint64_t ahead_of(const Flow& f, Instant now) const {
    return most_ahead(f, session_of(f), now);
  }
  // When the relay must visit the flow again.
  Instant deadline_of(const Flow& f) const {
    return deadline(f, session_of(f), limits, give_up_after);
  }
  // Makes the relay visit the flow, which may have something to send to its host.
  void queue(std::uint32_t slot) { flows.ring().add(slot); }

  LanNeighbours& lan;
  CommonKnowledge& common;
  const FarGateways& peers;
  Lanes& lanes;
  ConnectionRecords& records;
  FlowJournal& journal;
  Counters& counters;
  config::Limits limits;
  Duration give_up_after;  // how long a flow waits for a silent peer
  WorkCount work;
  tcp::Counters tcp_counters;  // counters of all endpoints together
  HostSide host_side;
  FlowStore flows;
  FlowQuotas quotas;
  HostWindows windows;
  StreamSide streams;
  UnconfirmedFlows unconfirmed;
  // Flows for which the work budget was spent before their hosts got all bytes.
  FlowRing unfinished;
  FlowlessFrames flowless;
  RoomPace room_pace;
};

}  // namespace satrelay::gateway
