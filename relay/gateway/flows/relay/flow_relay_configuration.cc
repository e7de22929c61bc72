// Applies a new configuration to flows that go on.
#include "relay/gateway/flows/relay/flow_relay.h"

namespace satrelay::gateway {

void FlowRelay::reconfigure(const config::Gateway& next, Instant now) {
  limits_.idle_timeout = next.limits.idle_timeout;
  limits_.half_close_timeout = next.limits.half_close_timeout;
  give_up_after_ = next.stp.give_up_after;
  host_side_.choose(next);
  share_with_endpoints();
  streams_.offer_dictionaries(now);
  ++configurations_;
  flows_.begin_scan();
  go_on(now);
}

}  // namespace satrelay::gateway
