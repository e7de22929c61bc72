// A message to the peer. It says that a host of the peer's LAN has answered on the sender's LAN,
// and which MAC the host has (docs/stp-wire.md section 15).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"

namespace satrelay::gateway {

struct HostArrival {
  IpAddress host;
  // The Ethernet header of the host's answer. The message does not carry the destination and the
  // type of this header.
  wire::EthernetHeader ethernet;

  friend bool operator==(const HostArrival&, const HostArrival&) = default;
};

inline constexpr std::uint8_t kHostArrivalMessage = 0xca;  // first octet of the metadata
inline constexpr std::size_t kMaxHostArrival = 2 + 16 + 1 + 4 * wire::kMaxVlanTags + 6;

// Returns nullopt if the message is cut short, or has another IP version or too many tags. Octets
// that a later version appends are ignored.
std::optional<HostArrival> parse_host_arrival(ConstBytes message);
std::size_t write_host_arrival(const HostArrival& arrival, MutableBytes out);

}  // namespace satrelay::gateway
