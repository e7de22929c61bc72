// What a gateway tells its peer of the frames that a host on its own LAN sends to one on the
// peer's: to which MAC they are addressed, if the two LANs are one network of layer 2 (docs/stp.md
// section 15). A bridge would deliver them there.
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
  stp::StreamId stream{};  // of a flow of the two hosts whose frames show it
  IpAddress near;          // the host on the teller's LAN, which sends
  IpAddress far;           // the one on the LAN of who is told
  // The header of the frames; its source and its type are not told.
  wire::EthernetHeader ethernet;

  friend bool operator==(const LanDestination&, const LanDestination&) = default;
};

inline constexpr std::uint8_t kLanDestinationMessage = 0xc8;  // first octet of the metadata
inline constexpr std::size_t kMaxLanDestination = 2 + 8 + 32 + 1 + 4 * wire::kMaxVlanTags + 6;

// nullopt: it is cut short, or has another IP version or too many tags. What a later version
// appends is ignored.
std::optional<LanDestination> parse_lan_destination(ConstBytes message);
std::size_t write_lan_destination(const LanDestination& told, MutableBytes out);

}  // namespace satrelay::gateway
