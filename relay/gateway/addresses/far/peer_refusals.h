// Remembers which clients a peer has refused lately, and for which servers it had no room. The
// gateway does not answer the SYN of a connection with such a client or server, but waits for the
// server's answer. So no client relies on a connection that the peer then refuses.
//
// A suspected connection is still relayed, since the suspicion may be wrong: a refusal has several
// possible causes. The suspicion costs only a round trip. If three clients of a network were
// refused and none was accepted, all clients of that network are suspected.
//
// All workers share one object. Its tables have a fixed size and are indexed by a keyed hash. The
// oldest entry is replaced first. Clients, networks and servers have separate tables.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/shared_table.h"
#include "relay/gateway/ids.h"

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

  // The peer seems to accept no connections of this client.
  void note_client(FarGatewayId peer, const IpAddress& client, Instant now);
  // The peer accepts the client, and so perhaps other clients of its network.
  void note_accepted(FarGatewayId peer, const IpAddress& client, Instant now);
  // The peer had no room for a connection to this server.
  void note_full(FarGatewayId peer, const IpAddress& server, Instant now);
  // Whether the peer may refuse a connection between this client and this server.
  bool is_doubtful(FarGatewayId peer, const IpAddress& client, const IpAddress& server,
                   Instant now) const;

 private:
  std::uint64_t hash(FarGatewayId peer, const IpAddress& host) const;
  void count_in_network(FarGatewayId peer, const IpAddress& client, Instant now);

  HashKey key_;
  // The upper bits are the time in seconds. The lowest bit says whether the client was refused.
  SharedTable clients_;
  // The upper bits are the time in seconds. Below are the number of refused clients, and a flag
  // that is set if a client was accepted.
  SharedTable networks_;
  SharedTable servers_;  // the time in seconds
};

}  // namespace satrelay::gateway
