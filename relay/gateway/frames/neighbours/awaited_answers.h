// Remembers to which owners of addresses the workers of a gateway have just sent ARP requests or
// neighbour solicitations. The thread that receives an answer passes the answer to all workers,
// even if ARP and Neighbour Discovery exceed their rate limit (Steering).
//
// All workers share this object without a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/neighbours/announced_owner.h"
#include "relay/gateway/frames/shared_table.h"

namespace satrelay::gateway {

class AwaitedAnswers {
 public:
  // How long a request is remembered. The owner has half a second to answer it.
  static constexpr Duration kPatience = Duration::seconds(2);

  explicit AwaitedAnswers(HashKey key) : key_(key), table_(kPlaces) {}

  void await(const IpAddress& host, const MacAddress& owner, Instant now);
  // Returns a number that identifies the answer. Equal answers have the same number. Returns
  // nullopt if no worker waits for this answer.
  std::optional<std::uint64_t> find(const AnnouncedOwner& told, Instant now) const;

 private:
  static constexpr std::size_t kPlaces = 4096;

  std::uint64_t hash(const IpAddress& host, const MacAddress& mac) const;

  HashKey key_;
  SharedTable table_;
};

}  // namespace satrelay::gateway
