// Shows the interfaces of a machine, and says which of them looks like the LAN.
#pragma once

#include <cstddef>
#include <string>

#include "relay/satrelayctl/init/ports/interfaces.h"

namespace satrelay::ctl::init {

struct PortAdvice {
  std::string lan;     // the name of an interface, or ""
  std::string wan;     // the name of an interface, or ""
  std::string reason;  // a sentence, or "" if there is no advice
};

// Compares the traffic of the interfaces that are not used otherwise.
PortAdvice advise_ports(const Machine& machine);
// Two tables of at most `width` characters: what each interface sees, and what it is made of.
std::string port_table(const Machine& machine, std::size_t width);

}  // namespace satrelay::ctl::init
