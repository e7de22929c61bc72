// Checks whether a worker is on the same CPU socket as the ports, whether it has a core to itself,
// and whether the ports have the offloads that it can use. A gateway also runs without these, so
// each fault is only logged, once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/checks/validation.h"
#include "config/model/schema.h"
#include "relay/machine/cpu_topology.h"

namespace satrelay::machine {

struct PortPlace {
  std::string name;  // "lan"
  // NUMA node of a PCI device; -1 if it is not known, or if the device is of another kind
  int node = -1;
  // Names of offloads that the device does not have, so that the worker does their work.
  std::vector<std::string> missing_offloads;
};

// Returns the reason if a worker has a core that this machine does not have. DPDK would end the
// program with its own usage text.
std::optional<config::Contradiction> object_to_cores(const config::Worker& worker,
                                                     const CpuTopology& topology);

// Returns one or two sentences for each fault, with the remedy.
std::vector<std::string> advise(const config::Worker& worker, const std::vector<PortPlace>& ports,
                                const CpuTopology& topology);

}  // namespace satrelay::machine
