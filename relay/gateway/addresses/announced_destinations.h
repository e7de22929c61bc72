// Remembers which destination MACs this gateway has announced to its peers: the MACs to which hosts
// of this LAN address their frames. A change is announced once on a lane, however many connections
// two hosts have.
//
// The table has a fixed size, is direct-mapped, and is indexed by a keyed hash. If another pair of
// hosts has taken the entry of a pair, the MAC of the first pair is announced again.
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
  // The shortest time between two announcements of the same MAC. The announcement is repeated
  // because the peer may have removed the MAC.
  static constexpr Duration kAgain = Duration::seconds(60);

  explicit AnnouncedDestinations(HashKey key) : key_(key), entries_(kEntries) {}

  // The receiver of announcements. Each lane of a peer may be handled by another worker at the
  // peer, and a restarted peer has no state. So an announcement to one listener does not count for
  // another.
  struct Listener {
    LaneId lane;
    std::uint32_t streams_gone = 0;  // peer_epoch_log.h
    friend bool operator==(const Listener&, const Listener&) = default;
  };
  // Returns whether `mac` must be announced to the peer, since a host has begun to send to `mac`.
  bool is_news(const Listener& listener, const HostPair& pair, const MacAddress& mac,
               Instant now) const;
  // Records that `mac` was announced.
  void note(const Listener& listener, const HostPair& pair, const MacAddress& mac, Instant now);

 private:
  struct Entry {
    Listener listener;
    HostPair pair;
    MacAddress mac;  // zero if the entry is empty
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
