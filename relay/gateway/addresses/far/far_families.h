// Keeps whether the servers behind a peer answer at all by IPv4, and by IPv6. Many networks
// announce IPv6 and do not route it. A client that has both families relies on a connect() that
// fails, or takes long. A gateway that answers for such servers defeats that.
//
// A family is silent when three servers of different networks (a /24, or a /64) have not answered
// within five minutes, and no other server has. One answer ends that.
//
// All workers share one object. If two workers write at once, one of two servers may be lost. It is
// noted at its next connection.
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
  // A family without any result for so long is tried anew.
  static constexpr Duration kKept = Duration::seconds(24 * 3600);

  FarFamilies(HashKey key, std::size_t peers) : key_(key), families_(2 * peers) {}

  // True if the family is silent from now on, and was not before.
  bool note_silence(FarGatewayId peer, const IpAddress& server, Instant now);
  void note_answer(FarGatewayId peer, const IpAddress& server, Instant now);
  bool is_silent(FarGatewayId peer, const IpAddress& server, Instant now) const;

 private:
  struct Family {
    // Networks of servers that did not answer. Upper half: a part of the network's hash. Lower
    // half: the time in seconds. 0: none.
    std::array<std::atomic<std::uint64_t>, kServers> unanswered{};
    std::atomic<std::uint32_t> answered{};  // time in seconds; 0: never
    // The last second in which the family was found silent; 0: it is not.
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
