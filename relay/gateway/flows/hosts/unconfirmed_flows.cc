#include "relay/gateway/flows/hosts/unconfirmed_flows.h"

#include <algorithm>

#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

void UnconfirmedFlows::defer(const IpAddress& host, std::uint32_t slot) {
  if (std::ranges::find(deferred_, host, &Deferred::host) != deferred_.end()) return;
  deferred_.push_back({host, slot});
}

std::optional<UnconfirmedFlows::Deferred> UnconfirmedFlows::take_deferred() {
  if (deferred_.empty()) return std::nullopt;
  const Deferred first = deferred_.front();
  deferred_.pop_front();
  return first;
}

std::uint64_t UnconfirmedFlows::hash(const IpAddress& host,
                                     const wire::EthernetHeader& header) const {
  FlowKey key;
  key.local = host;
  key.vlans = vlans_of(header);
  return hash_flow(key_, key);
}

}  // namespace satrelay::gateway
