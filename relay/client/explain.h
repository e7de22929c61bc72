// The question "which rule holds for this packet?", as an operator asks it.
#pragma once

#include <string>

namespace satrelay::ctl {

struct PacketQuestion {
  std::string source;       // an address
  std::string destination;  // an address, or with a port: 198.51.100.7:443, [2001:db8::7]:443
  std::string protocol = "tcp";
  std::string vlan = "untagged";
  std::string dscp = "0";
  std::string direction = "outbound";
};

// The parameters of the stats socket's command. Throws std::invalid_argument that names what is
// wrong, and what is allowed.
std::string explain_parameters(const PacketQuestion& question);

}  // namespace satrelay::ctl
