// Counts the SYN cookies that were sent but not yet returned. An ACK may return each of them at any
// moment, and then needs a slot for its flow. Only cookies of the last one or two seconds are
// counted. There is a count for all hosts together, and there are counts by peer and by host. The
// number of counts is fixed, so hosts with the same hash share a count, and so may peers. A shared
// count may be too large for each of them.
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
  // Call this when a cookie was returned.
  void remove(FarGatewayId peer, const IpAddress& host, Instant now) {
    all_.take(1, kRecent, now);
    peers_[peer.index() % kCounts].take(1, kRecent, now);
    of(host).take(1, kRecent, now);
  }
  // Whether a slot remains for one more cookie if all pending cookies are returned. Always true if
  // at least `ample` slots are free: in a flood of SYNs, hardly any cookies are returned.
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
