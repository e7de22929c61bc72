// One worker's lanes to all peers. Each lane has a session. LaneIds begin with the lanes to the
// first peer, in order, followed by the lanes to the second peer, and so on. If both ends have a
// single worker, the LaneId is the number of the peer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "config/model/schema.h"
#include "pep/base/typed_id.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/steering/lane_ports.h"
#include "relay/gateway/steering/share.h"

namespace satrelay::gateway {

struct LaneAddress {
  FarGatewayId peer{};
  std::uint8_t number = 0;
  std::uint8_t count = 1;  // number of all lanes to that peer
  LanePorts ports{};       // UDP ports of packets on the lane, the same in both directions
  // Whether the flow with this flow_hash() belongs to the lane.
  constexpr bool has_flow(std::uint32_t hash) const { return (hash & (count - 1U)) == number; }
  friend bool operator==(const LaneAddress&, const LaneAddress&) = default;
};

class LaneAddresses {
 public:
  LaneAddresses(const config::Gateway& config, Share share) : share_(share) {
    for (const config::Peer& peer : config.peers) {
      const unsigned count = lanes_to(peer, share.workers);
      most_ = std::max(most_, count);
      const FarGatewayId id = peers_.push_back({.first = lanes_.size(), .lanes = count});
      for (unsigned lane = share.worker; lane < count; lane += share.workers) {
        lanes_.push_back(
            {.peer = id,
             .number = static_cast<std::uint8_t>(lane),
             .count = static_cast<std::uint8_t>(count),
             .ports = lane_ports(config.stp.port, lane, count, config.gateway.own, peer.address)});
      }
    }
  }

  std::size_t size() const { return lanes_.size(); }
  const LaneAddress& operator[](LaneId lane) const { return lanes_[lane]; }
  auto ids() const { return lanes_.ids(); }

  // Whether a lane with this number to any peer exists, at this or another worker.
  bool is_one(int lane) const { return lane >= 0 && static_cast<unsigned>(lane) < most_; }
  // The lane with this number to the peer; nullopt if the lane does not exist, or if another worker
  // has it.
  std::optional<LaneId> find(FarGatewayId peer, unsigned lane) const {
    const OfPeer& p = peers_[peer];
    if (lane >= p.lanes || lane % share_.workers != share_.worker) return std::nullopt;
    return LaneId(p.first + lane / share_.workers);
  }
  // The lane of a flow, by its flow_hash(); nullopt if another worker has the lane.
  std::optional<LaneId> of_flow(FarGatewayId peer, std::uint32_t hash) const {
    return find(peer, hash & (peers_[peer].lanes - 1));
  }
  // The first lane of a peer, and the range of all its lanes at this worker.
  LaneId first_of(FarGatewayId peer) const { return LaneId(peers_[peer].first); }
  IdRange<LaneId> of(FarGatewayId peer) const {
    const OfPeer& p = peers_[peer];
    return id_range(LaneId(p.first), LaneId(p.first + p.lanes / share_.workers));
  }

 private:
  struct OfPeer {
    std::size_t first = 0;  // number of the peer's first LaneId
    unsigned lanes = 1;     // number of lanes of all workers
  };
  Share share_;
  unsigned most_ = 1;
  IdVector<FarGatewayId, OfPeer> peers_;
  IdVector<LaneId, LaneAddress> lanes_;
};

}  // namespace satrelay::gateway
