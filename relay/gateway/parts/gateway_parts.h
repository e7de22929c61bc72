// The objects that all steps of frame processing use: the configuration, the memory, the peers with
// their lanes, and the classes that decide what happens to each frame. The constructor builds all
// of them from the configuration. The steps are in the folders bridging, lanes and input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "config/model/schema.h"
#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/base/work_budget.h"
#include "pep/stp/connection/hello_budget.h"
#include "pep/stp/fec/repair_budget.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/addresses/lan/lan_neighbours.h"
#include "relay/gateway/addresses/wan_node.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/relay/flow_relay.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/frames/fragments/reassembly.h"
#include "relay/gateway/frames/fragments/released_fragments.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/identity.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/opening/admission_control.h"
#include "relay/gateway/peers/far_gateway.h"
#include "relay/gateway/peers/lane.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/recovery/orphaned_flows.h"
#include "relay/gateway/rules/claims.h"
#include "relay/gateway/rules/policy.h"
#include "relay/gateway/steering/peer_directory.h"
#include "relay/gateway/uplink/uplink.h"

namespace satrelay::gateway {

// Fragments of datagrams from the LAN. `reassembly` keeps the fragments until it is known whether
// they are relayed or bridged. `released` has the kept fragments that are now to be bridged.
struct Fragments {
  Fragments(HashKey secret, const config::Gateway& config, Counters& counters)
      : reassembly(secret, wire::kMaxEthernetHeaderSize + std::max(config.lan.mtu, config.wan.mtu),
                   counters) {}
  Reassembly reassembly;
  ReleasedFragments released{reassembly, kMostHeldFrames};
};

// The budgets that all sessions share.
struct SessionBudgets {
  SessionBudgets(std::size_t peers, std::size_t lanes, WorkBudget& budget)
      : hellos(peers), repairs(lanes, budget) {}
  stp::HelloBudget hellos;
  stp::SharedRepairs repairs;
};

struct GatewayParts {
  // `port` must outlive this object. Throws std::invalid_argument if the configuration contradicts
  // itself.
  GatewayParts(const config::Gateway& gateway_config, const Identity& gateway_identity,
               MutableBytes arena_memory, MutableBytes journal_memory, SessionPort& port,
               Instant now);
  GatewayParts(const GatewayParts&) = delete;
  GatewayParts& operator=(const GatewayParts&) = delete;

  bool is_reachable(LaneId lane) const {
    return wan.next_hop(directory.lanes()[lane].peer).has_value();
  }

  config::Gateway config;
  const Identity identity;
  const PeerDirectory directory;
  Arena arena;
  const FarGateways peers;  // each peer uses a part of `arena`
  WorkBudget budget;
  Counters counters;
  Fragments fragments;
  Uplink uplink;
  Policy policy;
  const Claims claims;
  const std::shared_ptr<CommonKnowledge> common;
  AdmissionControl door;
  WanNode wan;
  LanNeighbours lan;
  FlowJournal journal;
  // The hosts of these flows must be reset: flows of an earlier run, and flows between hosts that
  // are both on this LAN now.
  OrphanedFlows orphans;
  FlowRelay flows;
  SessionBudgets shared;
  // Lanes refer to flows and carriers, so they must be destroyed first.
  Lanes lanes;

 private:
  GatewayParts(const config::Gateway& gateway_config, const Identity& gateway_identity,
               const MemoryPlan& plan, MutableBytes arena_memory, MutableBytes journal_memory,
               SessionPort& port, Instant now);
};

}  // namespace satrelay::gateway
