#include "relay/gateway/flows/lan_hosts.h"

namespace satrelay::gateway {

LanHosts::LanHosts(std::uint32_t most_flows, HashKey key) : key_(key), by_address_(most_flows) {
  hosts_.reserve(most_flows);
  free_.reserve(most_flows);
}

LanHosts::Index LanHosts::find(const IpAddress& address) const {
  Index host = by_address_.first(hash(address));
  while (host != kNone && hosts_[host].address != address) host = by_address_.next(host);
  return host;
}

LanHosts::Index LanHosts::add_flow(const IpAddress& address) {
  Index host = find(address);
  if (host == kNone) {
    if (free_.empty()) {
      host = static_cast<Index>(hosts_.size());
      hosts_.emplace_back();
    } else {
      host = free_.back();
      free_.pop_back();
    }
    hosts_[host] = {.address = address};
    by_address_.insert(hash(address), host);
  }
  ++hosts_[host].flows;
  return host;
}

void LanHosts::remove_flow(Index host) {
  if (--hosts_[host].flows > 0) return;
  by_address_.erase(host);
  free_.push_back(host);
}

}  // namespace satrelay::gateway
