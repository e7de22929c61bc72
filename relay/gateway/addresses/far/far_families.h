// Whether the servers behind a peer answer at all by IPv4, and by IPv6. A network that announces
// IPv6 and does not route it is common. A client that has both then relies on a connect() that
// fails, or takes long: a gateway that answers for such servers defeats it.
//
// A family is silent when three servers of different networks (a /24, or a /64) have not answered
// within five minutes, and no other server has. One answer ends that.
//
// All workers share one. Two that write at once may lose one of two servers: it is noted at its
// next connection.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

class FarFamilies {
 public:
  static constexpr std::size_t kServers = 3;
  static constexpr Duration kWithin = Duration::seconds(300);
  // A family of which nothing is heard for so long is tried anew.
  static constexpr Duration kKept = Duration::seconds(24 * 3600);

  FarFamilies(HashKey key, std::size_t peers) : key_(key), families_(2 * peers) {}

  // True if the family is silent from now on, and was not before.
  bool note_silence(std::size_t peer, const IpAddress& server, Instant now);
  void note_answer(std::size_t peer, const IpAddress& server, Instant now);
  bool is_silent(std::size_t peer, const IpAddress& server, Instant now) const;

 private:
  struct Family {
    // Networks of servers that did not answer: a part of each one's hash in the upper half, the
    // second in the lower one. 0: none.
    std::array<std::atomic<std::uint64_t>, kServers> unanswered{};
    std::atomic<std::uint32_t> answered{};      // the second; 0: never
    std::atomic<std::uint32_t> silent_since{};  // the last second in which that was found; 0: not
  };
  Family& family_of(std::size_t peer, const IpAddress& server) {
    return families_[2 * peer + (server.is_v4() ? 0 : 1)];
  }
  const Family& family_of(std::size_t peer, const IpAddress& server) const {
    return families_[2 * peer + (server.is_v4() ? 0 : 1)];
  }

  HashKey key_;
  std::vector<Family> families_;
};

}  // namespace satrelay::gateway
