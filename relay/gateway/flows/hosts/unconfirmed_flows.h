// Finds, by the address of a host, the flows that wait until the gateway knows how to reach this
// host on the LAN.
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

  // `header` is the Ethernet header of the flow's frames. Only its VLANs are known yet.
  void add(std::uint32_t slot, const IpAddress& host, const wire::EthernetHeader& header) {
    by_host_.insert(hash(host, header), slot);
  }
  void remove(std::uint32_t slot) { by_host_.erase(slot); }  // no effect if the slot has no entry
  // To find the flows of a host, call first(), and then next() for each flow, until kNoSlot is
  // returned. The results may include flows of other hosts.
  std::uint32_t first(const IpAddress& host, const wire::EthernetHeader& header) const {
    return by_host_.first(hash(host, header));
  }
  std::uint32_t next(std::uint32_t slot) const { return by_host_.next(slot); }

  // The gateway has found the host, but more flows wait for it than one call visits. The next call
  // continues at `slot`.
  struct Deferred {
    IpAddress host;
    std::uint32_t slot = kNoSlot;
    friend bool operator==(const Deferred&, const Deferred&) = default;
  };
  void defer(const IpAddress& host, std::uint32_t slot);
  bool any_deferred() const { return !deferred_.empty(); }
  std::optional<Deferred> take_deferred();
  // Returns the slot at which to continue: `slot`, or the first flow if `slot` no longer waits for
  // a host with this hash.
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
