// Keeps which destination MACs this gateway has announced to its peers: the MACs to which hosts of
// this LAN address their frames. A change is announced once on a lane, however many connections two
// hosts have.
//
// Fixed size, direct-mapped, found by a keyed hash. A pair that has lost its place is announced
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/addresses/host_pair.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class AnnouncedDestinations {
 public:
  // The same MAC is announced again only after this time. The repeat is needed because the peer may
  // have forgotten it.
  static constexpr Duration kAgain = Duration::seconds(60);

  explicit AnnouncedDestinations(HashKey key) : key_(key), entries_(kEntries) {}

  // Each lane of a peer may belong to another worker there, and a restarted peer knows nothing. So
  // each listener is announced to separately.
  struct Listener {
    LaneId lane;
    std::uint32_t streams_gone = 0;  // peer_epoch_log.h
    friend bool operator==(const Listener&, const Listener&) = default;
  };
  // A host has changed to `mac`: whether to announce that to the peer.
  bool is_news(const Listener& listener, const HostPair& pair, const MacAddress& mac,
               Instant now) const;
  // It was announced.
  void note(const Listener& listener, const HostPair& pair, const MacAddress& mac, Instant now);

 private:
  struct Entry {
    Listener listener;
    HostPair pair;
    MacAddress mac;  // zero: the place is empty
    Instant again;
  };
  static constexpr std::size_t kEntries = 1024;

  std::size_t place(const Listener& listener, const HostPair& pair) const {
    return (hash_pair(key_, pair) + listener.lane.number()) % kEntries;
  }

  HashKey key_;
  std::vector<Entry> entries_;
};

}  // namespace satrelay::gateway
