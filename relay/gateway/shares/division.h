// Divides the rates of a gateway's links among its workers. At each tick, each worker reports what
// it has sent and what waits, and gets its new rates. Nothing is allocated after construction.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/typed_id.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/shares/peer_shares.h"
#include "relay/gateway/shares/rate_shares.h"

namespace satrelay::gateway {

class Division {
 public:
  // `lanes`: for each peer, the number of lanes that one worker has.
  Division(unsigned workers, std::size_t links, const IdVector<FarGatewayId, std::size_t>& lanes,
           Instant now);

  // Gateway::Rates::write_demands() must write the demands of each worker here before each
  // divide().
  Demands& demands(unsigned worker) { return demands_[worker]; }
  void divide(Instant now);
  // The shares for Gateway::Rates::take_shares().
  const Shares& shares(unsigned worker) const { return shares_[worker]; }
  // Returns true if no worker has sent, or had anything to send, for a while. Then the shares stay
  // valid until a worker has something to send.
  bool is_at_rest() const;
  const RateShares& link(LinkId link) const { return links_[link]; }

 private:
  IdVector<LinkId, RateShares> links_;
  PeerShares peers_;
  std::vector<Demands> demands_;
  std::vector<Shares> shares_;
};

}  // namespace satrelay::gateway
