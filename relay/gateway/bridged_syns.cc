#include "relay/gateway/bridged_syns.h"

namespace satrelay::gateway {
BridgedSyns::BridgedSyns(HashKey key, Duration memory)
    : key_(key), memory_(memory), entries_(kEntries) {}

void BridgedSyns::remember(const FlowKey& flow, std::uint32_t sequence, Instant now) {
  const std::uint64_t hash = hash_flow(key_, flow);
  entries_[hash % kEntries] = {hash, now + memory_, sequence};
}

bool BridgedSyns::recalls(const FlowKey& flow, std::uint32_t sequence, Instant now) const {
  const std::uint64_t hash = hash_flow(key_, flow);
  const Entry& entry = entries_[hash % kEntries];
  return entry.hash == hash && entry.sequence == sequence && now < entry.until;
}

}  // namespace satrelay::gateway
