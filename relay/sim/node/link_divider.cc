#include "relay/sim/node/link_divider.h"

#include <algorithm>
#include <cstddef>

#include "pep/base/typed_id.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/steering/steering.h"

namespace satrelay::sim {

void LinkDivider::begin(const config::Gateway& config, Instant now) {
  division_.reset();
  ticks_ = false;
  const auto workers = static_cast<unsigned>(workers_->size());
  IdVector<gateway::FarGatewayId, std::size_t> lanes;
  for (const config::Peer& peer : config.peers) {
    lanes.push_back(gateway::lanes_of_worker(peer, workers));
  }
  // A single worker has nothing to share, unless it has several lanes (sessions) to a peer.
  if (workers == 1 && std::ranges::all_of(lanes, [](std::size_t n) { return n == 1; })) return;
  division_.emplace(workers, config.links.size(), lanes, now - gateway::kShareTick);
  divide(now);
}

void LinkDivider::run(Instant now) {
  if (division_ && now >= next_) divide(now);
}

// A worker that is kept from running neither reports new demands nor gets its new shares. Its last
// demands remain in effect. Worker 0 divides the links.
void LinkDivider::divide(Instant now) {
  std::deque<GatewayWorker>& workers = *workers_;
  for (unsigned i = 0; i < workers.size(); ++i) {
    if (workers[i].is_starved(now)) continue;
    workers[i].engine().rates().write_demands(division_->demands(i), now);
  }
  if (!workers.front().is_starved(now)) division_->divide(now);
  for (unsigned i = 0; i < workers.size(); ++i) {
    if (workers[i].is_starved(now)) continue;
    workers[i].engine().rates().take_shares(division_->shares(i), now);
  }
  next_ = now + gateway::kShareTick;
  ticks_ = !division_->is_at_rest();
}

}  // namespace satrelay::sim
