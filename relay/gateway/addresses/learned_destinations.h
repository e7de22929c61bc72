// Remembers the MAC to which a far host addresses its frames for a host of this LAN, as the far
// gateway has announced it. If both LANs are one layer-2 network, a bridge would deliver the frames
// to that MAC.
//
// Other far hosts may address their frames to other MACs. So the MAC is used only for connections
// between the two hosts, and a peer can redirect only flows with hosts behind that peer.
//
// The table has a fixed size, is direct-mapped, and is indexed by a keyed hash: a later pair
// replaces an earlier pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/addresses/host_pair.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

class LearnedDestinations {
 public:
  static constexpr Duration kKept = Duration::seconds(24 * 3600);

  explicit LearnedDestinations(HashKey key) : key_(key), entries_(kEntries) {}

  struct Heard {
    MacAddress mac;
    std::uint64_t claim = 0;  // serial number of the announcement; never 0
  };
  void hear(const HostPair& pair, const MacAddress& mac, Instant now);
  std::optional<Heard> find(const HostPair& pair, Instant now) const;
  // A flow of these two hosts has shown that frames to `receiver` reach the host that sends from
  // `sender`.
  void note_receiver(const HostPair& pair, const MacAddress& sender, const MacAddress& receiver);
  MacAddress receiver(const HostPair& pair, const MacAddress& sender, Instant now) const;

 private:
  struct Entry {
    HostPair pair;
    MacAddress mac;
    MacAddress sender;        // source MAC of a host that receives frames at `mac`
    std::uint64_t claim = 0;  // 0 if the entry is empty
    Instant heard;
  };
  static constexpr std::size_t kEntries = 1024;

  std::size_t place(const HostPair& pair) const { return hash_pair(key_, pair) % kEntries; }
  static bool holds(const Entry& entry, const HostPair& pair) {
    return entry.claim != 0 && entry.pair == pair;
  }

  HashKey key_;
  std::vector<Entry> entries_;
  std::uint64_t claims_ = 0;
};

}  // namespace satrelay::gateway
