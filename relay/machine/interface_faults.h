// Judges the kernel interface of a port.
#pragma once

#include <string_view>

#include "config/model/schema.h"
#include "relay/machine/finding.h"
#include "relay/machine/interface_facts.h"

namespace satrelay::machine {

// Whether a gateway uses the interface now. Its start sets the MTU, switches the interface on and
// switches the merging off, so these matter only to a gateway that runs.
enum class Use { kBeforeStart, kRunning };

// `name`: "lan" or "wan". `port` must be on a kernel interface.
Findings judge_interface(std::string_view name, const config::Port& port,
                         const InterfaceFacts& facts, Use use);

}  // namespace satrelay::machine
