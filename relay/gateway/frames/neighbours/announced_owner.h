// Reads which MAC a frame announces for an address by ARP or Neighbour Discovery, if hosts would
// accept the frame.
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

// nullopt if the frame announces no owner.
std::optional<AnnouncedOwner> announced_owner(const Frame& frame);

// The address that the sender of the frame claims for itself: any address of announced_owner(), and
// also the source of a solicitation, or the target of an advertisement without a MAC. Many
// advertisements that answer a single host omit the MAC (RFC 4861 section 4.4).
std::optional<IpAddress> own_address(const Frame& frame);

}  // namespace satrelay::gateway
