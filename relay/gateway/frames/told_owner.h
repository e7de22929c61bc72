// Whose MAC ARP or Neighbour Discovery tells, as far as hosts believe it.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

struct ToldOwner {
  IpAddress host;
  MacAddress mac;
  enum class Override : std::uint8_t { kSet, kClear } replaces = Override::kSet;
};

// nullopt: the frame tells of nobody.
std::optional<ToldOwner> told_owner(const Frame& frame);

}  // namespace satrelay::gateway
