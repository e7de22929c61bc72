// Finds the slot of a flow by its key: open addressing with linear probing, sized once for the most
// flows the gateway may hold, at a load of at most one half.
#pragma once

#include <cstdint>
#include <vector>

#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

inline constexpr std::uint32_t kNoSlot = 0xffff'ffffU;

class FlowTable {
 public:
  FlowTable(std::uint32_t max_flows, HashKey key);

  std::uint64_t hash(const FlowKey& flow) const { return hash_flow(key_, flow); }
  // Brings on its way what find() looks at.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&entries_[hash & mask_]); }
  std::uint32_t find(const FlowKey& flow) const { return find(flow, hash(flow)); }
  std::uint32_t find(const FlowKey& flow, std::uint64_t hash) const;  // kNoSlot if absent
  // `flow` must be absent and fewer than max_flows keys present.
  void insert(const FlowKey& flow, std::uint32_t slot);
  void erase(const FlowKey& flow);  // no effect if absent

 private:
  struct Entry {
    FlowKey key;
    std::uint32_t slot = kNoSlot;
  };
  std::size_t home(const FlowKey& flow) const { return hash(flow) & mask_; }
  HashKey key_;
  std::uint64_t mask_;
  std::vector<Entry> entries_;
};

}  // namespace satrelay::gateway
