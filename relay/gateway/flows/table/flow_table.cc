#include "relay/gateway/flows/table/flow_table.h"

#include <algorithm>
#include <bit>

namespace satrelay::gateway {

FlowTable::FlowTable(std::uint32_t max_flows, HashKey key)
    : key_(key),
      mask_(std::bit_ceil(std::max<std::size_t>(max_flows, 8) * 2) - 1),
      entries_(mask_ + 1) {}

void FlowTable::insert(const FlowKey& flow, std::uint32_t slot) {
  const std::uint32_t tag = tag_of(flow);
  std::size_t i = tag & mask_;
  while (entries_[i].slot != kNoSlot) i = (i + 1) & mask_;
  entries_[i] = {tag, slot};
}

void FlowTable::erase(const FlowKey& flow, std::uint32_t slot) {
  std::size_t hole = tag_of(flow) & mask_;
  while (entries_[hole].slot != slot) hole = (hole + 1) & mask_;
  // Close the gap. Each later entry may move into the hole, unless the position that its hash gives
  // is behind the hole.
  for (std::size_t i = (hole + 1) & mask_; entries_[i].slot != kNoSlot; i = (i + 1) & mask_) {
    const std::size_t distance_from_home = (i - entries_[i].tag) & mask_;
    const std::size_t distance_from_hole = (i - hole) & mask_;
    if (distance_from_home >= distance_from_hole) {
      entries_[hole] = entries_[i];
      hole = i;
    }
  }
  entries_[hole] = Entry{};
}

}  // namespace satrelay::gateway
