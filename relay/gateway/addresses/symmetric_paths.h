// Remembers for pairs of hosts whether both directions of their connections cross both gateways.
//
// If a server does not answer a relayed connection, there are two possible causes. The server may
// filter the port, or its answers may take another path, without the gateways. Bridging helps only
// in the second case, and all connections of the two hosts then lose their acceleration. So the
// gateways look for evidence.
//
// If both hosts of a relayed connection have sent bytes, both directions cross the gateways. If a
// port of the server does not answer within the next hour, only this port is suspected
// (far_services.h). Without this evidence, a server that does not answer makes the pair of hosts
// doubtful. New connections of a doubtful pair are bridged for five minutes, or until an older,
// relayed connection of the pair is answered. If the client behaves as if the answer had taken
// another path, the pair is doubtful in spite of earlier answers, since routes may differ from flow
// to flow.
//
// All workers share one table. It has a fixed size and is indexed by a keyed hash. Doubtful pairs
// are replaced first, beginning with the oldest. So hosts that try many silent addresses displace
// no pair that has answered. A displaced pair counts as never answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/shared_table.h"

namespace satrelay::gateway {

class SymmetricPaths {
 public:
  // For this long after an answer, both directions are assumed to cross the gateways. If a route
  // changes within this time, the client's behaviour shows that (kElsewhere).
  static constexpr Duration kAnsweredFor = Duration::seconds(3600);
  static constexpr Duration kDoubtfulFor = Duration::seconds(300);
  static constexpr std::size_t kPlaces = 32'768;
  enum class Silence : std::uint8_t {
    kUnexplained,
    kElsewhere,  // the client behaved as if the server had answered it on another path
  };

  explicit SymmetricPaths(HashKey key) : key_(key), table_(kPlaces) {}

  // Both hosts of the connection have sent bytes through the gateways.
  void note_answer(const FlowKey& connection, Instant now);
  // The server did not answer, and no RST or ICMP error explains that.
  void note_silence(const FlowKey& connection, Silence silence, Instant now);
  // Whether connections between these two hosts, on any port, are bridged.
  bool is_doubtful(const FlowKey& connection, Instant now) const;

 private:
  std::uint64_t hash(const FlowKey& connection) const {
    return hash_flow(key_, pair_of(connection));
  }

  HashKey key_;
  SharedTable table_;
};

}  // namespace satrelay::gateway
