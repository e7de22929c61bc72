// Which clients a peer has refused of late, and for which servers it had no room. A SYN of such a
// connection is not answered in vain: its server answers it, so no client believes in a connection
// that the peer refuses.
//
// A suspicion bridges nothing, as it may be wrong: one refusal has several possible causes. All it
// costs is a round trip. A network of which three clients were refused, and none accepted, is
// suspicious as a whole.
//
// All workers share one. The number of places is fixed, and they are found by a keyed hash: those
// that were written first give way. Clients do not displace servers or networks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/shared_table.h"

namespace satrelay::gateway {

class PeerRefusals {
 public:
  static constexpr Duration kClientsKept = Duration::seconds(24 * 3600);
  static constexpr Duration kServersKept = Duration::seconds(10);
  static constexpr std::size_t kClients = 16'384;
  static constexpr std::size_t kNetworks = 4'096;
  static constexpr std::size_t kServers = 4'096;
  static constexpr std::uint32_t kClientsOfANetwork = 3;

  explicit PeerRefusals(HashKey key)
      : key_(key), clients_(kClients), networks_(kNetworks), servers_(kServers) {}

  // The peer accepts no connections of this client, perhaps.
  void note_client(std::size_t peer, const IpAddress& client, Instant now);
  // It does, and so perhaps others of its network.
  void note_accepted(std::size_t peer, const IpAddress& client, Instant now);
  // The peer had no room for a connection to this server.
  void note_full(std::size_t peer, const IpAddress& server, Instant now);
  // Whether the peer may refuse a connection between them.
  bool is_doubtful(std::size_t peer, const IpAddress& client, const IpAddress& server,
                   Instant now) const;

 private:
  std::uint64_t hash(std::size_t peer, const IpAddress& host) const;
  void count_in_network(std::size_t peer, const IpAddress& client, Instant now);

  HashKey key_;
  // The second, and in the lowest bit whether the client was refused or, later, accepted.
  SharedTable clients_;
  // The second, above whether a client was accepted, and how many were refused.
  SharedTable networks_;
  SharedTable servers_;  // the second
};

}  // namespace satrelay::gateway
