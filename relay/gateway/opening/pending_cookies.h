// Counts the SYN cookies that may come back at any moment, with an ACK that needs a place for its
// flow. These are the cookies of the last one or two seconds: of all hosts, towards each peer, and
// of each host. The counts have a fixed size. Hosts that share a place are counted together, and so
// are peers, so a count may be too large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/recent_count.h"
#include "pep/base/time.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/opening/flow_capacity.h"

namespace satrelay::gateway {

class PendingCookies {
 public:
  explicit PendingCookies(HashKey secret) : secret_(secret), peers_(kCounts), hosts_(kCounts) {}

  void add(FarGatewayId peer, const IpAddress& host, Instant now) {
    all_.add(1, kRecent, now);
    peers_[peer.index() % kCounts].add(1, kRecent, now);
    of(host).add(1, kRecent, now);
  }
  // A cookie has come back, or a segment that may bring one.
  void remove(FarGatewayId peer, const IpAddress& host, Instant now) {
    all_.take(1, kRecent, now);
    peers_[peer.index() % kCounts].take(1, kRecent, now);
    of(host).take(1, kRecent, now);
  }
  // Whether one more cookie finds a place. If there are `ample` places, it does: hardly any cookies
  // of a flood come back.
  bool leave_one_of(const FlowCapacity::Places& places, std::uint64_t ample, FarGatewayId peer,
                    const IpAddress& host, Instant now) {
    const auto leave = [&](std::uint64_t there, RecentCount& under_way) {
      return there >= ample || under_way.amount(kRecent, now) < there;
    };
    return leave(places.all, all_) && leave(places.of_peer, peers_[peer.index() % kCounts]) &&
           leave(places.of_host, of(host));
  }

 private:
  static constexpr Duration kRecent = Duration::seconds(1);
  static constexpr std::size_t kCounts = 512;
  RecentCount& of(const IpAddress& host) { return hosts_[hash_host(secret_, host) % kCounts]; }

  HashKey secret_;
  RecentCount all_;
  std::vector<RecentCount> peers_;
  std::vector<RecentCount> hosts_;
};

}  // namespace satrelay::gateway
