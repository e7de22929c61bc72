// Whether both directions between two hosts cross both gateways, as far as connections have shown.
//
// A server that does not answer a relayed connection may filter one port, or its answers may take
// another way, past the gateways. Bridging helps with the second only, and costs all connections of
// the two hosts their acceleration. A connection whose client opened it and whose two hosts have
// sent bytes through the gateways shows that both directions cross them. While that is known, the
// silence of a port is a matter of this port (far_services.h). Otherwise the pair is doubtful, and
// is bridged for five minutes, or until a connection that is still relayed is answered. A client
// that has shown another way outweighs that: routes may differ from flow to flow.
//
// All workers share one. The number of places is fixed, and they are found by a keyed hash.
// Doubtful pairs give way before others, and among those the ones that were heard first. So hosts
// that ask many silent addresses push out no pair that has answered. A pair that was pushed out
// counts as one that has never answered.
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
  // A route that changes within this time is found by what the client has shown (kElsewhere).
  static constexpr Duration kAnsweredFor = Duration::seconds(3600);
  static constexpr Duration kDoubtfulFor = Duration::seconds(300);
  static constexpr std::size_t kPlaces = 32'768;
  enum class Silence : std::uint8_t {
    kUnexplained,
    kElsewhere,  // the client behaved as if the server had answered it by another way
  };

  explicit SymmetricPaths(HashKey key) : key_(key), table_(kPlaces) {}

  // Both hosts of the connection have sent bytes through the gateways.
  void note_answer(const FlowKey& connection, Instant now);
  // The server did not answer, and nobody says why.
  void note_silence(const FlowKey& connection, Silence silence, Instant now);
  // Whether connections between these two hosts, whatever their ports, are left to them.
  bool is_doubtful(const FlowKey& connection, Instant now) const;

 private:
  std::uint64_t hash(const FlowKey& connection) const {
    return hash_flow(key_, pair_of(connection));
  }

  HashKey key_;
  SharedTable table_;
};

}  // namespace satrelay::gateway
