// The addresses that the kernel has on the interfaces of this machine.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace satrelay::machine {

using InterfaceAddresses = std::map<std::string, std::vector<std::string>>;

// Returns the addresses of each interface, without link-local IPv6 addresses.
InterfaceAddresses addresses_of_interfaces();

}  // namespace satrelay::machine
