// Finds the flow that waits for a server's answer. The addresses and ports of the answer are the
// key; its VLAN does not matter. The table has a fixed size and is direct-mapped: a later flow
// replaces an earlier flow with the same hash, and the earlier flow is then not found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "relay/gateway/flows/table/slot_index.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

class AskedServers {
 public:
  static constexpr std::size_t kPlaces = 8'192;

  explicit AskedServers(HashKey key) : key_(key), slots_(kPlaces, kNoSlot) {}

  void add(const FlowKey& flow, std::uint32_t slot) { slots_[place(flow)] = slot; }
  // Returns the slot that was stored for this key. That slot may have been freed since, or may
  // belong to another flow.
  std::uint32_t find(const FlowKey& flow) const { return slots_[place(flow)]; }

 private:
  std::size_t place(const FlowKey& flow) const {
    return static_cast<std::size_t>(hash_flow(key_, untagged(flow)) % kPlaces);
  }

  HashKey key_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace satrelay::gateway
