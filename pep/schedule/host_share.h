// Counts, for each host and class, the queues in which the host's bytes wait. There is a queue in
// each session, and one for frames that the relay sends outside sessions. A queue serves its hosts
// round robin. Its part of the link is in proportion to the number of its hosts. So a host in n
// queues would be served n times as often as a host in one queue. To prevent this, each of the n
// queues charges the host n bytes for each byte that the host sends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/containers/keyed_pool.h"
#include "pep/schedule/class_set.h"

namespace satrelay::schedule {

struct HostShare {
  std::uint64_t key = 0;
  HostShare* chain = nullptr;
  std::uint32_t users = 0;
  std::uint32_t places = 0;  // number of queues in which the host waits now

  // A queue charges the host this number of bytes for each byte that it sends for the host.
  std::uint32_t factor() const { return places > 1 ? places : 1; }
};

// Combines a host and a class into one key. Hosts are keyed hashes, so no more mixing is needed.
constexpr std::uint64_t in_class(ClassId stream_class, std::uint64_t host) {
  return host ^ (0x9E3779B97F4A7C15U * (std::uint64_t{stream_class} + 1));
}

class HostShares {
 public:
  explicit HostShares(std::size_t most) : pool_(most) {}

  // Returns the share of a host, which exists until leave(). Returns nullptr if the pool is full.
  // Then each queue charges the host only once for each byte.
  HostShare* join(ClassId stream_class, std::uint64_t host) {
    const std::uint64_t key = in_class(stream_class, host);
    HostShare* share = pool_.find(key);
    if (share == nullptr) {
      if (pool_.full()) return nullptr;
      share = &pool_.add(key);
    }
    ++share->users;
    return share;
  }
  void leave(HostShare* share) {
    if (share != nullptr && --share->users == 0) pool_.remove(*share);
  }

 private:
  KeyedPool<HostShare> pool_;
};

}  // namespace satrelay::schedule
