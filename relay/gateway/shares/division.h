// How the workers of a gateway share its links: at each tick each says what it has sent and what
// waits, and gets what it may send from then on. Allocates nothing after it was made.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pep/base/time.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/shares/peer_shares.h"
#include "relay/gateway/shares/rate_shares.h"

namespace satrelay::gateway {

class Division {
 public:
  // `lanes`: of each peer, that one worker has.
  Division(unsigned workers, std::size_t links, const std::vector<std::size_t>& lanes, Instant now);

  // Gateway::write_demands() fills them in, of each worker, before each divide().
  Demands& demands(unsigned worker) { return demands_[worker]; }
  void divide(Instant now);
  // For Gateway::take_shares().
  const Shares& shares(unsigned worker) const { return shares_[worker]; }
  // Nobody has sent or waited for long: the shares hold until somebody does.
  bool is_at_rest() const;
  const RateShares& link(std::size_t link) const { return links_[link]; }

 private:
  std::vector<RateShares> links_;
  PeerShares peers_;
  std::vector<Demands> demands_;
  std::vector<Shares> shares_;
};

}  // namespace satrelay::gateway
