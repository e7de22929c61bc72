#include "relay/gateway/uplink/rates/uplink_parts.h"

#include <algorithm>

namespace satrelay::gateway {
namespace {

// Maximum number of hosts that do not belong to flows: the hosts of bridged frames, and one host
// for all streams that carry no flow.
constexpr std::size_t kMostHeldHosts = 2 * kMostHeldFrames + 1;

}  // namespace

UplinkParts::UplinkParts(const config::Gateway& config, std::size_t lane_count)
    : classes(config.classes, ClassDictionaries(config.classes, config.compress_level)),
      ready_set(lane_count),
      has_bridged_share(std::ranges::any_of(
          config.links, [](const config::Link& link) { return link.bridged_share.has_value(); })),
      held(kMostHeldFrames, std::max<std::size_t>(config.links.size(), 1)) {
  for (const config::Link& link : config.links) {
    const LinkId id = carriers.push_back(
        std::make_unique<Carrier>(link, lane_count + 1, config.limits.flows + kMostHeldHosts,
                                  config.stp.feedback.budget, config.worker.count));
    carriers[id]->id = id;
  }
  for (const LaneId lane : id_range(LaneId(), LaneId(lane_count))) {
    ready_set.rest(lane, Instant::never());
  }
  // If there are several links, the gateway does not know which link a bridged frame takes.
  if (carriers.size() == 1) held.share_with(carriers.front()->host_shares);
}

}  // namespace satrelay::gateway
