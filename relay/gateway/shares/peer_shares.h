// Divides what a peer is sent at most between the lanes to it, of one worker or several, where that
// is less than its link carries: by the hosts that wait in each. Of peers without such a limit the
// link alone decides.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/shares/use.h"

namespace satrelay::gateway {

class PeerShares {
 public:
  // `lanes`: of each peer, that one worker has; its sessions are numbered through them.
  PeerShares(unsigned workers, const std::vector<std::size_t>& lanes, Instant now);

  // Of worker w and session s: [w][s]. A share of zero is no limit.
  void divide(std::span<const Demands> demands, std::span<Shares> shares, Instant now);

 private:
  struct Peer {
    std::vector<Use> lanes;  // by worker
    Excess excess = {};      // above the limit
    BitRate limit = {};      // as last divided; zero: none
  };
  struct Place {
    std::size_t first = 0, lanes = 0;  // of a worker's sessions
  };
  static bool rests(const Peer& peer, const Place& place, std::span<const Demands> demands);
  void divide_peer(Peer& peer, const Place& place, BitRate limit, Duration passed,
                   std::span<const Demands> demands, std::span<Shares> shares, Instant now);

  std::vector<Peer> peers_;
  std::vector<Place> places_;
  Instant last_;
};

}  // namespace satrelay::gateway
