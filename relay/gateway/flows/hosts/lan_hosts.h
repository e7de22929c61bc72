// Counts how much each address of this LAN uses: flows, half-open flows among them, and memory. An
// address has an entry as long as it has a flow. So there are never more entries than flows, even
// if a forger makes up addresses. Each change takes O(1).
#pragma once

#include <cstdint>
#include <vector>

#include "pep/base/address.h"
#include "relay/gateway/flows/table/slot_index.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

// Returns how many more bytes, or flows, a host may use if it already holds `held` of them and
// `free` are free. A host may have at most half of the amount that the other hosts leave.
constexpr std::uint64_t half_of_rest(std::uint64_t free, std::uint64_t held) {
  const std::uint64_t most = (free + held + 1) / 2;
  return most > held ? most - held : 0;
}

class LanHosts {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = kNoSlot;

  struct Host {
    IpAddress address;
    std::uint32_t flows = 0;
    std::uint32_t half_open = 0;
    std::uint64_t stored = 0;  // stored bytes from the host and for it, as FlowQuotas counts them
  };

  LanHosts(std::uint32_t most_flows, HashKey key);

  // Returns kNone if the host has no flow.
  Index find(const IpAddress& address) const;
  // add_flow() counts one flow more of the host, and remove_flow() one less. There are at most
  // `most_flows` flows.
  Index add_flow(const IpAddress& address);
  void remove_flow(Index host);
  Host& operator[](Index host) { return hosts_[host]; }
  const Host& operator[](Index host) const { return hosts_[host]; }
  std::uint64_t stored(Index host) const { return host == kNone ? 0 : hosts_[host].stored; }
  std::size_t size() const { return hosts_.size() - free_.size(); }

 private:
  // The last result of look_up(), since consecutive calls are often about the same host.
  struct Last {
    IpAddress address;
    std::uint64_t hash = 0;
    Index host = kNone;
  };
  void look_up(const IpAddress& address) const;
  HashKey key_;
  SlotIndex by_address_;
  // Has capacity for `most_flows` hosts, so that adding a flow does not allocate.
  std::vector<Host> hosts_;
  std::vector<Index> free_;
  mutable Last last_;
};

}  // namespace satrelay::gateway
