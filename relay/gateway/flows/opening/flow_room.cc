#include "relay/gateway/flows/opening/flow_room.h"

namespace satrelay::gateway {

std::optional<Counter> FlowRoom::lack_of_room(LaneId lane, const IpAddress& host) const {
  if (parts_.flows.free_slots() == 0) return Counter::kBridgedTableFull;
  if (const auto lack = parts_.quotas.lack(parts_.peer_of(lane), host, Origin::kLan)) return lack;
  const Arena& part = parts_.arena_of(lane);
  const EqualParts<FarGatewayId>& half_open = parts_.quotas.half_open();
  if (!parts_.windows.has_place_for_host(part, half_open.held(parts_.peer_of(lane)),
                                         half_open.taken()) ||
      !parts_.windows.has_window(part, parts_.quotas.hosts().find(host)) ||
      !parts_.lanes[lane]->session.streams().has_lane_share()) {
    return Counter::kBridgedMemoryLow;
  }
  return std::nullopt;
}

FlowRoom::Places FlowRoom::places(LaneId lane, const IpAddress& host) const {
  return {.all = parts_.flows.free_slots(),
          .of_peer = parts_.quotas.places_towards(parts_.peer_of(lane)),
          .of_host = parts_.quotas.places_of(host)};
}

Handshake FlowRoom::handshake(const config::Rule& rule, const FlowKey& key, LaneId lane,
                              Instant now) const {
  using config::HandshakeMode;
  using Cause = Handshake::Cause;
  const auto by_server = [](Cause cause) { return Handshake{HandshakeMode::kRemote, cause}; };
  if (rule.modes.handshake == HandshakeMode::kRemote) return by_server(Cause::kRule);
  if (rule.ttl == config::TtlMode::kPreserve &&
      !parts_.common.far_marks.find(key.remote, key.remote_port, now)) {
    return by_server(Cause::kTtlUnknown);
  }
  const auto latest = parts_.common.far_services.latest(key, now);
  if (latest == FarServices::Outcome::kRefused) return by_server(Cause::kServiceRefused);
  if (!latest && rule.modes.handshake == HandshakeMode::kAuto) {
    return by_server(Cause::kServiceUnknown);
  }
  if (parts_.common.far_families.is_silent(parts_.peer_of(lane), key.remote, now)) {
    return by_server(Cause::kFamilySilent);
  }
  if (parts_.common.peer_refusals.is_doubtful(parts_.peer_of(lane), key.local, key.remote, now)) {
    return by_server(Cause::kPeerRefused);
  }
  return {};
}

}  // namespace satrelay::gateway
