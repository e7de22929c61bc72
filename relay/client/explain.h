// Translates an operator's question "which rule applies to this packet?" into a command.
#pragma once

#include <string>

namespace satrelay::ctl {

struct PacketQuestion {
  std::string source;  // source address
  // Destination address, with or without a port: 198.51.100.7, 198.51.100.7:443, [2001:db8::7]:443.
  std::string destination;
  std::string protocol = "tcp";
  std::string vlan = "untagged";
  std::string dscp = "0";
  std::string direction = "outbound";
};

// Returns the parameters for the command /satrelay/explain of the stats socket. Throws
// std::invalid_argument that names the fault and the allowed values.
std::string explain_parameters(const PacketQuestion& question);

}  // namespace satrelay::ctl
