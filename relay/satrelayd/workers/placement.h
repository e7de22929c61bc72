// Checks whether the worker and the ports are well placed: on one socket, with a core of its own,
// and with the offloads that the worker wants. None of this keeps a gateway from running; the log
// says it once.
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

// One or two sentences for each fault, with the remedy. Empty if there is none.
std::vector<std::string> advise(const config::Worker& worker, const std::vector<PortPlace>& ports,
                                const CpuTopology& topology);

}  // namespace satrelay::satrelayd
