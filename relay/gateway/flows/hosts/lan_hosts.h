// What each address of this LAN has of the gateway: flows, half-open ones among them, and memory.
// It has a place here for as long as it has a flow, so there are never more places than flows,
// whoever makes up addresses. O(1) for each change.
#pragma once

#include <cstdint>
#include <vector>

#include "pep/base/address.h"
#include "relay/gateway/flows/table/slot_index.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

// What one host may take of what is free: it never has more than half of what the others leave.
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
    std::uint64_t stored = 0;  // bytes: from it and for it, as FlowQuotas counts them
  };

  LanHosts(std::uint32_t most_flows, HashKey key);

  // kNone: it has no flow.
  Index find(const IpAddress& address) const;
  // One flow more of the host, and one less. There are no more than `most_flows`.
  Index add_flow(const IpAddress& address);
  void remove_flow(Index host);
  Host& operator[](Index host) { return hosts_[host]; }
  const Host& operator[](Index host) const { return hosts_[host]; }
  std::uint64_t stored(Index host) const { return host == kNone ? 0 : hosts_[host].stored; }
  std::size_t size() const { return hosts_.size() - free_.size(); }

 private:
  // The last one asked for: several questions about one host come one after the other.
  struct Last {
    IpAddress address;
    std::uint64_t hash = 0;
    Index host = kNone;
  };
  void look_up(const IpAddress& address) const;
  HashKey key_;
  SlotIndex by_address_;
  std::vector<Host> hosts_;  // none allocates: there is room for the most flows
  std::vector<Index> free_;
  mutable Last last_;
};

}  // namespace satrelay::gateway
