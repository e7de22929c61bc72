#include "relay/satrelayd/placement.h"

#include <set>

namespace satrelay::satrelayd {
namespace {

// As the kernel writes it: "0-3,8".
std::string to_text(const std::set<unsigned>& cpus) {
  std::string text;
  for (auto first = cpus.begin(); first != cpus.end();) {
    auto last = first;
    while (std::next(last) != cpus.end() && *std::next(last) == *last + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(*first);
    if (last != first) text += '-' + std::to_string(*last);
    first = std::next(last);
  }
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void advise_of_node(const config::Worker& worker, const PortPlace& port,
                    const CpuTopology& topology, std::vector<std::string>& advice) {
  if (port.node < 0 || !topology.has_several_nodes()) return;
  const std::string place =
      "port " + port.name + " is on NUMA node " + std::to_string(port.node) + ", ";
  const std::string remedy =
      "set worker.cpu to one of its cores (" + to_text(topology.cpus_of(port.node)) + ")";
  if (!worker.cpu) {
    advice.push_back(place + "and the worker may run on another one: " + remedy);
    return;
  }
  const int node = topology.node_of(*worker.cpu);
  if (node < 0 || node == port.node) return;
  advice.push_back(place + "worker.cpu " + std::to_string(*worker.cpu) + " on node " +
                   std::to_string(node) + ": every frame crosses between the sockets; " + remedy);
}

void advise_of_core(const config::Worker& worker, const CpuTopology& topology,
                    std::vector<std::string>& advice) {
  if (!worker.cpu) {
    if (worker.polling != config::Polling::kBusy) return;
    advice.emplace_back(
        "polling: busy without worker.cpu: the worker takes a whole core, each time another one");
    return;
  }
  const std::string cpu = std::to_string(*worker.cpu);
  if (!topology.isolated.contains(*worker.cpu)) {
    advice.push_back("core " + cpu +
                     " (worker.cpu) is not isolated: others run on it too, and the " +
                     "worker waits for them; isolcpus=" + cpu + " nohz_full=" + cpu +
                     " on the kernel's command line keeps it free");
  } else if (!topology.tickless.contains(*worker.cpu)) {
    advice.push_back("core " + cpu +
                     " (worker.cpu) is isolated, but the kernel's timer interrupts " +
                     "the worker; nohz_full=" + cpu + " on the kernel's command line");
  }
}

}  // namespace

std::vector<std::string> advise(const config::Worker& worker, const std::vector<PortPlace>& ports,
                                const CpuTopology& topology) {
  std::vector<std::string> advice;
  for (const PortPlace& port : ports) advise_of_node(worker, port, topology, advice);
  advise_of_core(worker, topology, advice);
  for (const PortPlace& port : ports) {
    if (port.missing_offloads.empty()) continue;
    advice.push_back("port " + port.name + ": the device lacks " + joined(port.missing_offloads) +
                     "; the worker does it");
  }
  return advice;
}

}  // namespace satrelay::satrelayd
