// A message to the peer. It says to which MAC a host on the sender's LAN addresses its frames for a
// host on the receiver's LAN. If the two LANs are one layer-2 network, a bridge would deliver
// frames to that MAC (docs/stp.md section 15).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/stp/types.h"
#include "pep/wire/ethernet.h"

namespace satrelay::gateway {

struct LanDestination {
  // The stream of a flow between the two hosts. The frames of this flow have the header `ethernet`.
  stp::StreamId stream{};
  IpAddress near;  // the host on the sender's LAN, which sends the frames
  IpAddress far;   // the host on the receiver's LAN
  // The Ethernet header of the frames. The message does not carry the source and the type of this
  // header.
  wire::EthernetHeader ethernet;

  friend bool operator==(const LanDestination&, const LanDestination&) = default;
};

inline constexpr std::uint8_t kLanDestinationMessage = 0xc8;  // first octet of the metadata
inline constexpr std::size_t kMaxLanDestination = 2 + 8 + 32 + 1 + 4 * wire::kMaxVlanTags + 6;

// Returns nullopt if the message is cut short, or has another IP version or too many tags. Octets
// that a later version appends are ignored.
std::optional<LanDestination> parse_lan_destination(ConstBytes message);
std::size_t write_lan_destination(const LanDestination& told, MutableBytes out);

}  // namespace satrelay::gateway
