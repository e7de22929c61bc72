#include "relay/gateway/addresses/far/peer_refusals.h"

#include <algorithm>
#include <optional>

#include "relay/gateway/addresses/network_of.h"
#include "relay/gateway/frames/coarse_time.h"

namespace satrelay::gateway {
namespace {

constexpr std::uint32_t kRefused = 1;

bool is_refused(std::uint32_t value, Instant now) {
  return (value & kRefused) != 0 && is_within(value >> 1, PeerRefusals::kClientsKept, now);
}

struct Network {
  std::uint32_t refused = 0;  // number of refused clients, PeerRefusals::kClientsOfANetwork at most
  bool has_accepted = false;
};
constexpr unsigned kNetworkBits = 3;

Network network_in(std::optional<std::uint32_t> value, Instant now) {
  if (!value || !is_within(*value >> kNetworkBits, PeerRefusals::kClientsKept, now)) return {};
  return {.refused = *value >> 1 & 3, .has_accepted = (*value & 1) != 0};
}

std::uint32_t value_of(const Network& network, Instant now) {
  return second_of(now) << kNetworkBits | network.refused << 1 | (network.has_accepted ? 1U : 0U);
}

}  // namespace

std::uint64_t PeerRefusals::hash(FarGatewayId peer, const IpAddress& host) const {
  return hash_service(key_, host, static_cast<std::uint16_t>(peer.number()));
}

void PeerRefusals::note_client(FarGatewayId peer, const IpAddress& client, Instant now) {
  const auto before = clients_.put(hash(peer, client), second_of(now) << 1 | kRefused);
  if (!before || !is_refused(*before, now)) count_in_network(peer, client, now);
}

void PeerRefusals::count_in_network(FarGatewayId peer, const IpAddress& client, Instant now) {
  const std::uint64_t place = hash(peer, network_of(client));
  Network network = network_in(networks_.find(place), now);
  if (network.has_accepted) return;
  network.refused = std::min(network.refused + 1, kClientsOfANetwork);
  networks_.put(place, value_of(network, now));
}

void PeerRefusals::note_accepted(FarGatewayId peer, const IpAddress& client, Instant now) {
  // Most clients and networks were never refused, and need no entry.
  if (clients_.is_unused()) return;
  const std::uint64_t place = hash(peer, client);
  const auto value = clients_.find(place);
  if (value && is_refused(*value, now)) clients_.put(place, second_of(now) << 1);
  const std::uint64_t place_of_network = hash(peer, network_of(client));
  const Network network = network_in(networks_.find(place_of_network), now);
  if (network.refused > 0) {
    networks_.put(place_of_network, value_of({.refused = 0, .has_accepted = true}, now));
  }
}

void PeerRefusals::note_full(FarGatewayId peer, const IpAddress& server, Instant now) {
  servers_.put(hash(peer, server), second_of(now));
}

bool PeerRefusals::is_doubtful(FarGatewayId peer, const IpAddress& client, const IpAddress& server,
                               Instant now) const {
  if (clients_.is_unused() && servers_.is_unused()) return false;
  const auto value = clients_.find(hash(peer, client));
  const Network network = network_in(networks_.find(hash(peer, network_of(client))), now);
  return (value && is_refused(*value, now)) || network.refused == kClientsOfANetwork ||
         is_within(servers_.find(hash(peer, server)), kServersKept, now);
}

}  // namespace satrelay::gateway
