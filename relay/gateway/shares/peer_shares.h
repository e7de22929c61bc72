// If a peer has a limit below the rate of its link, divides this limit among the lanes to the peer,
// in proportion to the hosts that wait in each lane. The lanes may belong to several workers.
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
  // `lanes`: for each peer, the number of lanes that one worker has. The sessions of a worker are
  // in the same order.
  PeerShares(unsigned workers, const IdVector<FarGatewayId, std::size_t>& lanes, Instant now);

  // demands[w] and shares[w] belong to worker w. In them, lanes[s] belongs to the worker's session
  // s. A share of zero means that the lane has no limit.
  void divide(std::span<const Demands> demands, std::span<Shares> shares, Instant now);

 private:
  struct Peer {
    std::vector<Use> lanes;  // for each lane of each worker
    Excess excess = {};      // bytes above the limit
    BitRate limit = {};      // the limit that was last divided; zero if there was none
  };
  struct Place {
    std::size_t first = 0, lanes = 0;  // the peer's lanes among the lanes of a worker
  };
  static bool rests(const Peer& peer, const Place& place, std::span<const Demands> demands);
  void divide_peer(Peer& peer, const Place& place, BitRate limit, Duration passed,
                   std::span<const Demands> demands, std::span<Shares> shares, Instant now);

  IdVector<FarGatewayId, Peer> peers_;
  IdVector<FarGatewayId, Place> places_;
  Instant last_;
};

}  // namespace satrelay::gateway
