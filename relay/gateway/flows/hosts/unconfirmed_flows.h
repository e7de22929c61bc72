// Flows that wait until it is known how their host is reached on the LAN, by host.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "pep/base/address.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/flows/table/slot_index.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

class UnconfirmedFlows {
 public:
  UnconfirmedFlows(std::uint32_t slots, HashKey key) : key_(key), by_host_(slots) {}

  // `header`: that of the flow's frames, of which only the VLANs are known.
  void add(std::uint32_t slot, const IpAddress& host, const wire::EthernetHeader& header) {
    by_host_.insert(hash(host, header), slot);
  }
  void remove(std::uint32_t slot) { by_host_.erase(slot); }  // no effect if it is not here
  // Those of a host, and perhaps others: first(), and then next() of each, until kNoSlot.
  std::uint32_t first(const IpAddress& host, const wire::EthernetHeader& header) const {
    return by_host_.first(hash(host, header));
  }
  std::uint32_t next(std::uint32_t slot) const { return by_host_.next(slot); }

  // More flows wait for this host, which has been heard, than were seen to: from `slot` on.
  struct Deferred {
    IpAddress host;
    std::uint32_t slot = kNoSlot;
    friend bool operator==(const Deferred&, const Deferred&) = default;
  };
  void defer(const IpAddress& host, std::uint32_t slot);
  bool any_deferred() const { return !deferred_.empty(); }
  std::optional<Deferred> take_deferred();
  // Where to go on: `slot`, or the first if it waits for nobody of this hash any more.
  std::uint32_t go_on(std::uint32_t slot, const IpAddress& host,
                      const wire::EthernetHeader& header) const {
    const std::uint64_t by = hash(host, header);
    return by_host_.finds(by, slot) ? slot : by_host_.first(by);
  }

 private:
  std::uint64_t hash(const IpAddress& host, const wire::EthernetHeader& header) const;
  HashKey key_;
  SlotIndex by_host_;
  std::deque<Deferred> deferred_;
};

}  // namespace satrelay::gateway
