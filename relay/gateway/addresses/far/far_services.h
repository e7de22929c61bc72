// Keeps how each far service (an address and a port) took its latest connection. A gateway that
// answers a SYN before the server does must take the answer back if the server refuses. So a
// service that has refused answers for itself until it accepts again.
//
// All workers share one table. The number of places is fixed, and a keyed hash finds them. Entries
// of the earliest hour give way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/shared_table.h"

namespace satrelay::gateway {

class FarServices {
 public:
  static constexpr Duration kKept = Duration::seconds(24 * 3600);
  static constexpr std::size_t kPlaces = 32'768;
  enum class Outcome : std::uint8_t {
    kAccepted = 1,
    kRefused,  // by RST or ICMP, or it did not answer
  };

  explicit FarServices(HashKey key) : key_(key), table_(kPlaces) {}

  // True if the service had another outcome before, or no known one. `connection`: a connection to
  // the service. The same service in other VLANs is another one.
  bool note(const FlowKey& connection, Outcome outcome, Instant now);
  // nullopt if no outcome was noted for a day.
  std::optional<Outcome> latest(const FlowKey& connection, Instant now) const;

 private:
  std::uint64_t hash(const FlowKey& connection) const;

  HashKey key_;
  SharedTable table_;
};

}  // namespace satrelay::gateway
