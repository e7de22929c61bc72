// What of the configuration flows take up while they go on.
#include "relay/gateway/flows/flow_relay.h"

namespace satrelay::gateway {

void FlowRelay::reconfigure(const config::Gateway& next, Instant now) {
  limits_.idle_timeout = next.limits.idle_timeout;
  limits_.half_close_timeout = next.limits.half_close_timeout;
  host_side_.choose(next.tcp);
  offer_dictionaries(next.classes, now);
  ++configurations_;
  flows_.begin_lap();
  go_on(now);
}

void FlowRelay::offer_dictionaries(const std::vector<config::TrafficClass>& classes, Instant now) {
  dictionaries_.replace(classes);
  for (const config::TrafficClass& each : classes) {
    if (each.dictionary != nullptr) splice_.make_room_for(*each.dictionary);
  }
  for (const auto& peer : peers_) {
    peer->liaison.offer(dictionaries_.offered(), now);
    peer->dictionaries.update(classes_, peer->liaison.peer_dictionaries());
  }
}

}  // namespace satrelay::gateway
