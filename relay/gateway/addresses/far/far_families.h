// Remembers whether the servers behind a peer answer at all by IPv4, and by IPv6. Many networks
// announce IPv6 and do not route it. A client that knows addresses of both families turns to the
// other family when connect() fails or takes long. If a gateway answered SYNs in the name of such
// unreachable servers, connect() would succeed, and the client would not change families.
//
// A family is silent when three servers of different networks (a /24, or a /64) have not answered
// within five minutes, and no other server has answered. A single answer ends that state.
//
// All workers share one object. If two workers write at the same time, one of the two servers may
// not be recorded. It is recorded at its next connection.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class FarFamilies {
 public:
  static constexpr std::size_t kServers = 3;
  static constexpr Duration kWithin = Duration::seconds(300);
  // If a silent family has had no result for this long, it is tried again.
  static constexpr Duration kKept = Duration::seconds(24 * 3600);

  FarFamilies(HashKey key, std::size_t peers) : key_(key), families_(2 * peers) {}

  // Returns true if the family has become silent now.
  bool note_silence(FarGatewayId peer, const IpAddress& server, Instant now);
  void note_answer(FarGatewayId peer, const IpAddress& server, Instant now);
  bool is_silent(FarGatewayId peer, const IpAddress& server, Instant now) const;

 private:
  struct Family {
    // Networks of servers that did not answer. The upper half of a word is a part of the network's
    // hash, and the lower half is the time in seconds. A word of 0 is empty.
    std::array<std::atomic<std::uint64_t>, kServers> unanswered{};
    // Time of the last answer in seconds; 0 if there was none.
    std::atomic<std::uint32_t> answered{};
    // The last second in which the family was found silent; 0 if the family is not silent.
    std::atomic<std::uint32_t> silent_since{};
  };
  Family& family_of(FarGatewayId peer, const IpAddress& server) {
    return families_[2 * peer.index() + (server.is_v4() ? 0 : 1)];
  }
  const Family& family_of(FarGatewayId peer, const IpAddress& server) const {
    return families_[2 * peer.index() + (server.is_v4() ? 0 : 1)];
  }

  HashKey key_;
  std::vector<Family> families_;
};

}  // namespace satrelay::gateway
