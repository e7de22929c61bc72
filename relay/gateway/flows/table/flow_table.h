// Finds the slot of a flow by its key: open addressing with linear probing. The table has a fixed
// size, so that at most half of the entries are in use with the maximum number of flows.
#pragma once

#include <cstdint>
#include <vector>

#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

inline constexpr std::uint32_t kNoSlot = 0xffff'ffffU;

// An entry holds a part of the flow's hash, the tag. The key is in the flow itself, and the table
// compares it only if the tag matches. So an entry is small, and eight entries share a cache line.
class FlowTable {
 public:
  FlowTable(std::uint32_t max_flows, HashKey key);

  std::uint64_t hash(const FlowKey& flow) const { return hash_flow(key_, flow); }
  // Prefetches the memory that find() reads.
  void prefetch(std::uint64_t hash) const {
    __builtin_prefetch(&entries_[static_cast<std::uint32_t>(hash) & mask_]);
  }
  // The slot for which is_it(slot) is true, among the flows with this hash; kNoSlot if there is
  // none.
  template <typename IsIt>
  std::uint32_t find(std::uint64_t hash, IsIt&& is_it) const {
    const auto tag = static_cast<std::uint32_t>(hash);
    for (std::size_t i = tag & mask_; entries_[i].slot != kNoSlot; i = (i + 1) & mask_) {
      if (entries_[i].tag == tag && is_it(entries_[i].slot)) return entries_[i].slot;
    }
    return kNoSlot;
  }
  // `flow` must be absent, and the table must hold fewer than max_flows keys.
  void insert(const FlowKey& flow, std::uint32_t slot);
  // `flow` must be present, in `slot`.
  void erase(const FlowKey& flow, std::uint32_t slot);

 private:
  struct Entry {
    std::uint32_t tag = 0;
    std::uint32_t slot = kNoSlot;
  };
  std::uint32_t tag_of(const FlowKey& flow) const { return static_cast<std::uint32_t>(hash(flow)); }
  HashKey key_;
  std::size_t mask_;
  std::vector<Entry> entries_;
};

}  // namespace satrelay::gateway
