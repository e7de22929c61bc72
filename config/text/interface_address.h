// The address of an interface, with its subnet.
#pragma once

#include <optional>
#include <string_view>

#include "pep/base/address.h"

namespace satrelay::config {

// The address and the subnet that a text such as "192.0.2.1/30" contains.
struct InterfaceAddress {
  IpAddress own;
  IpPrefix subnet;
};
std::optional<InterfaceAddress> parse_interface_address(std::string_view text);

}  // namespace satrelay::config
