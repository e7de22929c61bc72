// In how many queues a host waits with bytes of a class: of the sessions with each peer, and of
// what the relay sends beside them. Each queue serves its hosts alike, and shares the link with the
// others in proportion to its hosts. Where each books what a host sends as often as the host waits
// somewhere, all its turns together come to one host's.
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

  // How often bytes that leave one of them are to be booked.
  std::uint32_t factor() const { return places > 1 ? places : 1; }
};

// One number for a host in a class; hosts come as keyed hashes, and this mixes no further.
constexpr std::uint64_t in_class(ClassId stream_class, std::uint64_t host) {
  return host ^ (0x9E3779B97F4A7C15U * (std::uint64_t{stream_class} + 1));
}

class HostShares {
 public:
  explicit HostShares(std::size_t most) : pool_(most) {}

  // Until leave(). nullptr if there are as many as there may be: such a host has a turn in each.
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
