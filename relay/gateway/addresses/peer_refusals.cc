#include "relay/gateway/addresses/peer_refusals.h"

#include "relay/gateway/frames/coarse_time.h"

namespace satrelay::gateway {
namespace {

constexpr std::uint32_t kRefused = 1;

bool is_refused(std::uint32_t value, Instant now) {
  return (value & kRefused) != 0 && is_within(value >> 1, PeerRefusals::kClientsKept, now);
}

}  // namespace

std::uint64_t PeerRefusals::hash(std::size_t peer, const IpAddress& host) const {
  FlowKey subject;
  subject.local = host;
  subject.local_port = static_cast<std::uint16_t>(peer);
  return hash_flow(key_, subject);
}

void PeerRefusals::note_client(std::size_t peer, const IpAddress& client, Instant now) {
  clients_.put(hash(peer, client), second_of(now) << 1 | kRefused);
}

void PeerRefusals::note_accepted(std::size_t peer, const IpAddress& client, Instant now) {
  const std::uint64_t place = hash(peer, client);
  // Most clients were never refused, and need no place.
  const auto value = clients_.find(place);
  if (value && is_refused(*value, now)) clients_.put(place, second_of(now) << 1);
}

void PeerRefusals::note_full(std::size_t peer, const IpAddress& server, Instant now) {
  servers_.put(hash(peer, server), second_of(now));
}

bool PeerRefusals::is_doubtful(std::size_t peer, const IpAddress& client, const IpAddress& server,
                               Instant now) const {
  const auto value = clients_.find(hash(peer, client));
  return (value && is_refused(*value, now)) ||
         is_within(servers_.find(hash(peer, server)), kServersKept, now);
}

}  // namespace satrelay::gateway
