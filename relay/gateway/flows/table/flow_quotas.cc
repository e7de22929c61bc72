#include "relay/gateway/flows/table/flow_quotas.h"

namespace satrelay::gateway {

std::optional<Counter> FlowQuotas::lack(FarGatewayId peer, const IpAddress& host,
                                        Origin origin) const {
  if (flows_.available(peer) == 0) {
    return origin == Origin::kLan ? Counter::kBridgedPeerPart : Counter::kFlowsRefusedPeerPart;
  }
  if (origin == Origin::kPeer && flows_.is_below_part(peer)) return std::nullopt;
  if (places_of(host) > 0) return std::nullopt;
  return origin == Origin::kLan ? Counter::kBridgedHostPart : Counter::kFlowsRefusedHostPart;
}

std::uint64_t FlowQuotas::places_of(const IpAddress& host) const {
  const LanHosts::Index at = hosts_.find(host);
  const std::uint64_t held = at == LanHosts::kNone ? 0 : hosts_[at].flows;
  return half_of_rest(flows_.free(), held);
}

bool FlowQuotas::may_be_half_open(FarGatewayId peer, const IpAddress& host) const {
  if (half_open_.available(peer) == 0) return false;
  const LanHosts::Index at = hosts_.find(host);
  const std::uint64_t held = at == LanHosts::kNone ? 0 : hosts_[at].half_open;
  return half_of_rest(half_open_.free(), held) > 0;
}

void FlowQuotas::begin(Flow& f, FarGatewayId peer) {
  flows_.take(peer);
  f.lan.host = hosts_.add_flow(f.key.local);
  if (!f.is_half_open()) return;
  half_open_.take(peer);
  ++hosts_[f.lan.host].half_open;
}

void FlowQuotas::end(const Flow& f, FarGatewayId peer) {
  if (f.is_half_open()) count_answered(f, peer);
  flows_.give_back(peer);
  hosts_[f.lan.host].stored -= stored(f);
  hosts_.remove_flow(f.lan.host);
}

void FlowQuotas::count_answered(const Flow& f, FarGatewayId peer) {
  half_open_.give_back(peer);
  --hosts_[f.lan.host].half_open;
}

}  // namespace satrelay::gateway
