#include "relay/gateway/flows/parts/relay_parts.h"

namespace satrelay::gateway {

RelayParts::RelayParts(const config::Gateway& config, const MemoryPlan& plan, HashKey secret,
                       const RelayEnvironment& around, const Stopwatch* stopwatch)
    : lan(around.lan),
      common(around.common),
      peers(around.peers),
      lanes(around.lanes),
      records(around.records),
      journal(around.journal),
      counters(around.counters),
      limits(config.limits),
      give_up_after(config.stp.give_up_after),
      host_side(config, plan, secret),
      flows(config.limits.flows, secret),
      quotas(config.limits, config.peers.size(), secret),
      windows(plan, flows, quotas.hosts()),
      streams(config, plan, secret, around.classes, lanes, around.budget, stopwatch),
      unconfirmed(config.limits.flows, secret),
      unfinished(config.limits.flows) {}

}  // namespace satrelay::gateway
