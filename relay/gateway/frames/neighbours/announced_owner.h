// Whose MAC ARP or Neighbour Discovery tells, as far as hosts believe it.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

struct AnnouncedOwner {
  IpAddress host;
  MacAddress mac;
  enum class Override : std::uint8_t { kSet, kClear } replaces = Override::kSet;
};

// nullopt: the frame tells of nobody.
std::optional<AnnouncedOwner> announced_owner(const Frame& frame);

// The address that the sender of the frame says it has. Beside those of told_owner() these are the
// sources of solicitations, and advertisements that leave the MAC out, as many that answer
// a single host do (RFC 4861 section 4.4).
std::optional<IpAddress> own_address(const Frame& frame);

}  // namespace satrelay::gateway
