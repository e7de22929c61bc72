// The rates of links and peers: the operator's limits, and the division among several workers.
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

Gateway::CapacityResult Gateway::Rates::set_capacity(std::string_view link, LinkWay way,
                                                     BitRate capacity, Instant now) {
  return engine_.settled().parts.uplink.rates().set_capacity(link, way, capacity, now);
}

bool Gateway::Rates::set_peer_rate(std::string_view peer, BitRate most, Instant now) {
  Impl& impl = engine_.settled();
  bool found = false;
  for (const LaneId id : impl.parts.lanes.ids()) {
    if (impl.parts.lanes[id]->peer.config.name != peer) continue;
    impl.parts.uplink.rates().set_most_rate(id, most, now);
    found = true;
  }
  return found;
}

BitRate Gateway::Rates::commanded_capacity(std::string_view link, LinkWay way) const {
  return engine_.unsettled().parts.uplink.rates().commanded_capacity(link, way);
}

BitRate Gateway::Rates::commanded_rate(std::string_view peer) const {
  const Impl& impl = engine_.unsettled();
  for (const LaneId id : impl.parts.lanes.ids()) {
    if (impl.parts.lanes[id]->peer.config.name == peer)
      return impl.parts.uplink.rates().most_rate(id);
  }
  return {};
}

void Gateway::Rates::write_demands(Demands& demands, Instant now) const {
  engine_.unsettled().parts.uplink.shares().write_demands(demands, now);
}

void Gateway::Rates::take_shares(const Shares& shares, Instant now) {
  engine_.unsettled().parts.uplink.shares().take(shares, now);
}

BitRate Gateway::Rates::link_rate(LinkId link) const {
  return engine_.unsettled().parts.uplink.carriers()[link]->in_force();
}

ByteCount Gateway::Rates::link_train(LinkId link) const {
  return engine_.unsettled().parts.uplink.rates().train(link);
}

}  // namespace satrelay::gateway
