#include "relay/gateway/flows/unheard_flows.h"

#include <algorithm>

#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

void UnheardFlows::put_off(const IpAddress& host, std::uint32_t slot) {
  if (std::ranges::find(put_off_, host, &PutOff::host) != put_off_.end()) return;
  put_off_.push_back({host, slot});
}

std::optional<UnheardFlows::PutOff> UnheardFlows::take_put_off() {
  if (put_off_.empty()) return std::nullopt;
  const PutOff first = put_off_.front();
  put_off_.pop_front();
  return first;
}

std::uint64_t UnheardFlows::hash(const IpAddress& host, const wire::EthernetHeader& header) const {
  FlowKey key;
  key.local = host;
  key.vlans = vlans_of(header);
  return hash_flow(key_, key);
}

}  // namespace satrelay::gateway
