// What the engines of one gateway say of themselves, taken together: numbers are sums, and of what
// is no number the one that an operator should look at first.
#pragma once

#include <vector>

#include "relay/gateway/snapshot.h"

namespace satrelay::gateway {

void add_to(Status& sum, const Status& more);
// Lanes to the same peer become one. The order is that of the first lanes.
void add_to(std::vector<PeerSnapshot>& sum, const std::vector<PeerSnapshot>& more);
// The next lanes of one engine's listing; those of a peer follow each other, and become one.
void append_lanes(std::vector<PeerSnapshot>& peers, std::vector<PeerSnapshot> lanes);
// Both have the same links, rules or classes, in the same order.
void add_to(std::vector<LinkSnapshot>& sum, const std::vector<LinkSnapshot>& more);
void add_to(std::vector<RuleSnapshot>& sum, const std::vector<RuleSnapshot>& more);
void add_to(std::vector<HistogramSnapshot>& sum, const std::vector<HistogramSnapshot>& more);
void add_to(std::vector<ClassSnapshot>& sum, const std::vector<ClassSnapshot>& more);

}  // namespace satrelay::gateway
