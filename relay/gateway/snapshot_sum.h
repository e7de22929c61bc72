// Combines the reports of all engines of one gateway. Numbers are added up. For other values the
// result is the value that an operator should see first.
#pragma once

#include <vector>

#include "relay/gateway/snapshot.h"

namespace satrelay::gateway {

void add_to(Status& sum, const Status& more);
// Combines the lanes to one peer into one entry. The entries are in the order of `sum`.
void add_to(std::vector<PeerSnapshot>& sum, const std::vector<PeerSnapshot>& more);
// Appends the next lanes of one engine's listing. The lanes of a peer are consecutive, and become
// one entry.
void append_lanes(std::vector<PeerSnapshot>& peers, std::vector<PeerSnapshot> lanes);
// Both arguments have the same links, rules or classes, in the same order.
void add_to(std::vector<LinkSnapshot>& sum, const std::vector<LinkSnapshot>& more);
void add_to(std::vector<RuleSnapshot>& sum, const std::vector<RuleSnapshot>& more);
void add_to(std::vector<HistogramSnapshot>& sum, const std::vector<HistogramSnapshot>& more);
void add_to(std::vector<ClassSnapshot>& sum, const std::vector<ClassSnapshot>& more);

}  // namespace satrelay::gateway
