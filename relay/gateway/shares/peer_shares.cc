#include "relay/gateway/shares/peer_shares.h"

#include <algorithm>
#include <utility>

namespace satrelay::gateway {
namespace {

// The smallest rate of a lane in bytes per second. A lane gets this rate even if the limit of its
// peer is lower.
constexpr double kLeastRate = 16;

BitRate limit_of(std::span<const Demands> demands, std::size_t first, std::size_t lanes) {
  BitRate least;
  for (const Demands& worker : demands) {
    for (const LaneDemand& lane : std::span(worker.lanes).subspan(first, lanes)) {
      if (lane.limit.is_zero()) continue;
      least = least.is_zero() ? lane.limit : std::min(least, lane.limit);
    }
  }
  return least;
}

}  // namespace

PeerShares::PeerShares(unsigned workers, const IdVector<FarGatewayId, std::size_t>& lanes,
                       Instant now)
    : last_(now) {
  std::size_t first = 0;
  for (const std::size_t count : lanes) {
    peers_.push_back({.lanes = std::vector<Use>(workers * count)});
    places_.push_back({.first = first, .lanes = count});
    first += count;
  }
}

void PeerShares::divide(std::span<const Demands> demands, std::span<Shares> shares, Instant now) {
  if (now <= last_) return;
  const Duration passed = now - last_;
  last_ = now;
  for (const FarGatewayId id : peers_.ids()) {
    Peer& peer = peers_[id];
    const Place& place = places_[id];
    if (peer.lanes.size() < 2) continue;
    const BitRate limit = limit_of(demands, place.first, place.lanes);
    if (!limit.is_zero()) {
      divide_peer(peer, place, limit, passed, demands, shares, now);
    } else if (!std::exchange(peer.limit, BitRate()).is_zero()) {
      for (Shares& worker : shares) {
        std::ranges::fill(std::span(worker.lanes).subspan(place.first, place.lanes), BitRate());
      }
    }
  }
}

// Whether no lane to the peer has anything to send. Then the shares of the peer need not be
// computed.
bool PeerShares::rests(const Peer& peer, const Place& place, std::span<const Demands> demands) {
  for (std::size_t i = 0; i < peer.lanes.size(); ++i) {
    const LaneDemand& demand =
        demands[i / place.lanes].lanes[LaneId(place.first + i % place.lanes)];
    if (peer.lanes[i].is_active() || demand.waits || demand.sent != peer.lanes[i].counted) {
      return false;
    }
  }
  return true;
}

void PeerShares::divide_peer(Peer& peer, const Place& place, BitRate limit, Duration passed,
                             std::span<const Demands> demands, std::span<Shares> shares,
                             Instant now) {
  const double whole = std::max(static_cast<double>(limit.to_bits_per_second()) / 8, kLeastRate);
  const Tick tick = Tick::of(now, passed, whole);
  // Bytes that were sent before the peer had a limit do not count as excess.
  const BitRate before = std::exchange(peer.limit, limit);
  const bool is_new = before.is_zero();
  if (before == limit && rests(peer, place, demands)) {
    peer.excess.count(0, whole, 0, tick);
    return;
  }
  const auto count = static_cast<double>(peer.lanes.size());
  double sent = 0, active = 0;
  for (std::size_t i = 0; i < peer.lanes.size(); ++i) {
    const LaneDemand& demand =
        demands[i / place.lanes].lanes[LaneId(place.first + i % place.lanes)];
    if (is_new) peer.lanes[i] = {.counted = demand.sent};
    sent += peer.lanes[i].count(demand.sent, tick);
    peer.lanes[i].note(demand.waits, demand.hungry, demand.hosts, tick);
    if (peer.lanes[i].is_active()) ++active;
  }
  if (is_new) {
    peer.excess = {};
  } else {
    peer.excess.count(sent, whole, active, tick);
  }
  const double all = peer.excess.most(whole, active);
  divide_by_hosts(all, [&](auto&& visit) {
    for (Use& lane : peer.lanes) visit(lane);
  });
  double given = 0;
  for (const Use& lane : peer.lanes) given += lane.given;
  for (std::size_t i = 0; i < peer.lanes.size(); ++i) {
    const Use& lane = peer.lanes[i];
    double rate = lane.given;
    if (active == 0) {
      rate = whole / count;
    } else if (lane.is_active()) {
      rate += std::max(0.0, all - given) / active;
    }
    if (lane.demand != Use::kAll) rate = std::max(rate, kReserve * whole / count);
    shares[i / place.lanes].lanes[LaneId(place.first + i % place.lanes)] =
        BitRate::bits_per_second(static_cast<std::uint64_t>(std::max(rate, kLeastRate) * 8));
  }
}

}  // namespace satrelay::gateway
