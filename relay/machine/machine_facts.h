// Reads what matters to a gateway on this machine: interfaces, cores and memory.
#pragma once

#include <optional>

#include "config/checks/machine_memory.h"
#include "config/model/schema.h"
#include "relay/machine/cpu_topology.h"
#include "relay/machine/interface_facts.h"

namespace satrelay::machine {

struct MachineFacts {
  // The interfaces of the ports; nullopt for ports of another kind.
  std::optional<InterfaceFacts> lan;
  std::optional<InterfaceFacts> wan;
  CpuTopology cores;
  config::MachineMemory memory;
};

MachineFacts read_machine_facts(const config::Gateway& config);

}  // namespace satrelay::machine
