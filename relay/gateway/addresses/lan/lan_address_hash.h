// Computes the keyed hash of a LAN address and a MAC. Tables are indexed by this hash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "relay/gateway/addresses/lan/lan_owners.h"
#include "relay/gateway/frames/keyed_hash.h"

namespace satrelay::gateway {

// `further` is another value that distinguishes entries, such as a peer's number.
inline std::uint64_t hash_lan_address(const HashKey& key, const LanAddress& address,
                                      const MacAddress& mac = {}, std::uint32_t further = 0) {
  constexpr std::size_t kHost = 16, kVersion = 1, kMac = 6, kFurther = 4;
  std::array<std::byte, kHost + kVersion + kMac + 2 * wire::kMaxVlanTags + kFurther> bytes{};
  ByteWriter out(bytes);
  out.bytes(std::as_bytes(std::span(address.host.octets())));
  out.u8(address.host.is_v4() ? 4 : 6);
  out.bytes(std::as_bytes(std::span(mac.octets)));
  for (const std::uint16_t vlan : address.vlans) out.u16(vlan);
  out.u32(further);
  return sip_hash(key, bytes);
}

}  // namespace satrelay::gateway
