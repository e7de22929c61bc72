// Whether worker and ports are where they work best: on one socket, on a core of its own, with what
// a device can do for the worker. Nothing of it keeps a gateway from running; the log says it once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "relay/satrelayd/workers/cpu_topology.h"

namespace satrelay::satrelayd {

struct PortPlace {
  std::string name;  // "lan"
  int node = -1;     // NUMA node of a PCI device; -1: unknown, or no such device
  // What the worker would leave to a device and must do itself, in words.
  std::vector<std::string> missing_offloads;
};

// A sentence or two each, with what to do; empty where nothing is to be said.
std::vector<std::string> advise(const config::Worker& worker, const std::vector<PortPlace>& ports,
                                const CpuTopology& topology);

}  // namespace satrelay::satrelayd
