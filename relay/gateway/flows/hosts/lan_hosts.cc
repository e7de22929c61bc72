#include "relay/gateway/flows/hosts/lan_hosts.h"

namespace satrelay::gateway {

LanHosts::LanHosts(std::uint32_t most_flows, HashKey key) : key_(key), by_address_(most_flows) {
  by_address_.make_room();
  hosts_.reserve(most_flows);
  free_.reserve(most_flows);
  last_.hash = hash_host(key_, last_.address);
}

void LanHosts::look_up(const IpAddress& address) const {
  if (last_.address == address) return;
  const std::uint64_t hash = hash_host(key_, address);
  Index host = by_address_.first(hash);
  while (host != kNone && hosts_[host].address != address) host = by_address_.next(host);
  last_ = {.address = address, .hash = hash, .host = host};
}

LanHosts::Index LanHosts::find(const IpAddress& address) const {
  look_up(address);
  return last_.host;
}

LanHosts::Index LanHosts::add_flow(const IpAddress& address) {
  look_up(address);
  Index& host = last_.host;
  if (host == kNone) {
    if (free_.empty()) {
      host = static_cast<Index>(hosts_.size());
      hosts_.emplace_back();
    } else {
      host = free_.back();
      free_.pop_back();
    }
    hosts_[host] = {.address = address};
    by_address_.insert(last_.hash, host);
  }
  ++hosts_[host].flows;
  return host;
}

void LanHosts::remove_flow(Index host) {
  if (--hosts_[host].flows > 0) return;
  by_address_.erase(host);
  free_.push_back(host);
  if (last_.host == host) last_.host = kNone;
}

}  // namespace satrelay::gateway
