// What this gateway has told its peers of the MACs to which hosts of this LAN address their frames:
// however many connections two hosts have, a change is told once.
//
// Fixed size, direct-mapped, found by a keyed hash. A pair that has lost its place is told again.
#pragma once

#include <cstddef>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/addresses/host_pair.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

class ToldDestinations {
 public:
  // The same is told no sooner again. It is told again at all as the peer may have forgotten it.
  static constexpr Duration kAgain = Duration::seconds(60);

  explicit ToldDestinations(HashKey key) : key_(key), entries_(kEntries) {}

  // A host has changed to `mac`: whether the peer is to be told.
  bool is_news(const HostPair& pair, const MacAddress& mac, Instant now) const;
  // It was told.
  void note(const HostPair& pair, const MacAddress& mac, Instant now);

 private:
  struct Entry {
    HostPair pair;
    MacAddress mac;  // zero: the place is empty
    Instant again;
  };
  static constexpr std::size_t kEntries = 1024;

  std::size_t place(const HostPair& pair) const { return hash_pair(key_, pair) % kEntries; }

  HashKey key_;
  std::vector<Entry> entries_;
};

}  // namespace satrelay::gateway
