// Keyed hashes, so that an outsider cannot choose inputs that collide. SipHash-2-4 (Aumasson,
// Bernstein 2012) is used for initial sequence numbers (RFC 6528), cookies and some tables. A
// cheaper hash is used for tables of flows.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/bytes.h"
#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

struct HashKey {
  std::uint64_t k0 = 0;
  std::uint64_t k1 = 0;
};

std::uint64_t sip_hash(const HashKey& key, ConstBytes bytes);

// Hash of a flow key for look-ups in tables: a keyed multiply-and-fold. It is cheaper than SipHash.
// It may be used only for the position of an entry.
std::uint64_t hash_flow(const HashKey& key, const FlowKey& flow);

// The same hash, of two words (hash_words()), or of a host with a port and VLANs (hash_service()).
std::uint64_t hash_words(const HashKey& key, std::uint64_t first, std::uint64_t second);
std::uint64_t hash_service(const HashKey& key, const IpAddress& host, std::uint16_t port,
                           const std::array<std::uint16_t, wire::kMaxVlanTags>& vlans = {});

// SipHash of a flow key and one more word.
std::uint64_t sip_hash(const HashKey& key, const FlowKey& flow, std::uint64_t more);

// SipHash of a host's address.
std::uint64_t hash_host(const HashKey& key, const IpAddress& host);

// The label of all packets of a flow from the far host, 1 to 0xfffff (RFC 6437). It depends on the
// 5-tuple alone, so it needs no memory and stays the same after a restart.
std::uint32_t flow_label(const FlowKey& flow);

// The initial sequence number of RFC 6528: F(4-tuple, secret) plus a clock that ticks every 4
// microseconds.
std::uint32_t initial_sequence(const HashKey& key, const FlowKey& flow, std::int64_t nanoseconds);

}  // namespace satrelay::gateway
