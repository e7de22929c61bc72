// Checks whether a worker is on the same CPU socket as the ports, whether it has a core of its own,
// and whether the ports have the offloads that it wants. A gateway also runs without these, so a
// fault is only logged, once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "relay/satrelayd/workers/cpu_topology.h"

namespace satrelay::satrelayd {

struct PortPlace {
  std::string name;  // "lan"
  int node = -1;     // NUMA node of a PCI device; -1: unknown, or another kind of device
  // Offloads that the device lacks, so that the worker does the work, in words.
  std::vector<std::string> missing_offloads;
};

// Returns one or two sentences for each fault, with the remedy.
std::vector<std::string> advise(const config::Worker& worker, const std::vector<PortPlace>& ports,
                                const CpuTopology& topology);

}  // namespace satrelay::satrelayd
