// Divides the limit of a peer among the lanes to it, of one worker or several, by the hosts that
// wait in each lane. Only limits below the rate of the peer's link count. For other peers the link
// alone decides.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/typed_id.h"
#include "pep/base/units.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/shares/use.h"

namespace satrelay::gateway {

class PeerShares {
 public:
  // `lanes`: the number of lanes to each peer that one worker has. The worker's sessions are
  // numbered through them.
  PeerShares(unsigned workers, const IdVector<FarGatewayId, std::size_t>& lanes, Instant now);

  // [w] is worker w, and lanes[s] is its session s. A share of zero is no limit.
  void divide(std::span<const Demands> demands, std::span<Shares> shares, Instant now);

 private:
  struct Peer {
    std::vector<Use> lanes;  // by worker
    Excess excess = {};      // above the limit
    BitRate limit = {};      // as last divided; zero: none
  };
  struct Place {
    std::size_t first = 0, lanes = 0;  // among a worker's sessions
  };
  static bool rests(const Peer& peer, const Place& place, std::span<const Demands> demands);
  void divide_peer(Peer& peer, const Place& place, BitRate limit, Duration passed,
                   std::span<const Demands> demands, std::span<Shares> shares, Instant now);

  IdVector<FarGatewayId, Peer> peers_;
  IdVector<FarGatewayId, Place> places_;
  Instant last_;
};

}  // namespace satrelay::gateway
