// An address with its subnet, as interfaces have it.
#pragma once

#include <optional>
#include <string_view>

#include "pep/base/address.h"

namespace satrelay::config {

// The parts of an address with the length of its subnet: "192.0.2.1/30".
struct InterfaceAddress {
  IpAddress own;
  IpPrefix subnet;
};
std::optional<InterfaceAddress> parse_interface_address(std::string_view text);

}  // namespace satrelay::config
