// Counts the queues in which a host waits with bytes of a class: the queues of the sessions with
// each peer, and of frames that the relay sends beside them. Each queue serves its hosts alike, and
// shares the link with the other queues in proportion to its hosts. Each queue books the bytes of a
// host once for each place where the host waits. So all turns of the host together come to the
// turns of one host.
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
  std::uint32_t places = 0;  // in which the host waits now

  // How often bytes that leave one of these places must be booked.
  std::uint32_t factor() const { return places > 1 ? places : 1; }
};

// One number for a host in a class. Hosts come as keyed hashes, so no more mixing is needed.
constexpr std::uint64_t in_class(ClassId stream_class, std::uint64_t host) {
  return host ^ (0x9E3779B97F4A7C15U * (std::uint64_t{stream_class} + 1));
}

class HostShares {
 public:
  explicit HostShares(std::size_t most) : pool_(most) {}

  // The share lasts until leave(). nullptr if the pool is full: such a host has a turn in each
  // queue.
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
