// Remembers for each far service (an address and a port) whether it accepted its latest connection.
// If a gateway answers a SYN before the server does, and the server then refuses, the gateway must
// reset a connection that the client believes to be open. So after a refusal the gateway waits for
// the service's own answer, until the service accepts a connection again.
//
// All workers share one table. It has a fixed size and is indexed by a keyed hash. Entries of the
// earliest hour are replaced first.
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
    kRefused,  // by RST or ICMP, or without any answer
  };

  explicit FarServices(HashKey key) : key_(key), table_(kPlaces) {}

  // Records the outcome of `connection` for its service. Returns true if the service had a
  // different outcome before, or no known outcome. The same address and port in another VLAN is
  // another service.
  bool note(const FlowKey& connection, Outcome outcome, Instant now);
  // nullopt if no outcome was noted within a day.
  std::optional<Outcome> latest(const FlowKey& connection, Instant now) const;

 private:
  std::uint64_t hash(const FlowKey& connection) const;

  HashKey key_;
  SharedTable table_;
};

}  // namespace satrelay::gateway
