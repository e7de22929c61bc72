#include "relay/gateway/shares/division.h"

#include <algorithm>
#include <numeric>

namespace satrelay::gateway {

Division::Division(unsigned workers, std::size_t links,
                   const IdVector<FarGatewayId, std::size_t>& lanes, Instant now)
    : links_(links, RateShares(workers, now)), peers_(workers, lanes, now) {
  const std::size_t sessions = std::accumulate(lanes.begin(), lanes.end(), std::size_t{0});
  for (unsigned i = 0; i < workers; ++i) {
    demands_.emplace_back(links, sessions);
    shares_.emplace_back(links, sessions);
  }
}

void Division::divide(Instant now) {
  for (const LinkId link : links_.ids()) {
    links_[link].divide(link, demands_, shares_, now);
  }
  peers_.divide(demands_, shares_, now);
}

bool Division::is_at_rest() const {
  return std::ranges::all_of(links_, [](const RateShares& link) { return link.is_at_rest(); });
}

}  // namespace satrelay::gateway
