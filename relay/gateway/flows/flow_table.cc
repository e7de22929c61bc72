#include "relay/gateway/flows/flow_table.h"

#include <algorithm>
#include <bit>

namespace satrelay::gateway {

FlowTable::FlowTable(std::uint32_t max_flows, HashKey key)
    : key_(key),
      mask_(std::bit_ceil(std::max<std::uint64_t>(max_flows, 8) * 2) - 1),
      entries_(mask_ + 1) {}

std::uint32_t FlowTable::find(const FlowKey& flow, std::uint64_t hash) const {
  for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
    const Entry& entry = entries_[i];
    if (entry.slot == kNoSlot) return kNoSlot;
    if (entry.key == flow) return entry.slot;
  }
}

void FlowTable::insert(const FlowKey& flow, std::uint32_t slot) {
  std::size_t i = home(flow);
  while (entries_[i].slot != kNoSlot) i = (i + 1) & mask_;
  entries_[i] = Entry{flow, slot};
}

void FlowTable::erase(const FlowKey& flow) {
  std::size_t hole = home(flow);
  while (entries_[hole].slot != kNoSlot && entries_[hole].key != flow) hole = (hole + 1) & mask_;
  if (entries_[hole].slot == kNoSlot) return;
  // Close the gap: an entry may move into the hole unless its home lies behind the hole.
  for (std::size_t i = (hole + 1) & mask_; entries_[i].slot != kNoSlot; i = (i + 1) & mask_) {
    const std::size_t distance_from_home = (i - home(entries_[i].key)) & mask_;
    const std::size_t distance_from_hole = (i - hole) & mask_;
    if (distance_from_home >= distance_from_hole) {
      entries_[hole] = entries_[i];
      hole = i;
    }
  }
  entries_[hole] = Entry{};
}

}  // namespace satrelay::gateway
