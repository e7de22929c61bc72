#include "relay/machine/placement.h"

#include <initializer_list>
#include <set>
#include <string_view>

namespace satrelay::machine {
namespace {

// Writes CPUs in the kernel's notation, such as "0-3,8".
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

std::string text_of(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

// Returns the configuration key that sets the workers' cores.
std::string key_of(const config::Worker& worker) {
  return worker.count > 1 ? "worker.cpus" : "worker.cpu";
}

void advise_of_node(const config::Worker& worker, const PortPlace& port,
                    const CpuTopology& topology, std::vector<std::string>& advice) {
  if (port.node < 0 || !topology.has_several_nodes()) return;
  const std::string place =
      "port " + port.name + " is on NUMA node " + std::to_string(port.node) + ", ";
  const std::string remedy = (worker.count > 1 ? "set worker.cpus to some of its cores ("
                                               : "set worker.cpu to one of its cores (") +
                             to_text(topology.cpus_of(port.node)) + ")";
  if (worker.cpus.empty()) {
    advice.push_back(place + "and the worker may run on another one: " + remedy);
    return;
  }
  for (const unsigned cpu : worker.cpus) {
    const int node = topology.node_of(cpu);
    if (node < 0 || node == port.node) continue;
    advice.push_back(
        text_of({place, key_of(worker), " ", std::to_string(cpu), " on node ", std::to_string(node),
                 ": every frame crosses between the sockets; ", remedy}));
  }
}

void advise_of_core(const config::Worker& worker, const CpuTopology& topology,
                    std::vector<std::string>& advice) {
  if (worker.cpus.empty() && worker.polling == config::Polling::kBusy) {
    advice.push_back("polling: busy without " + key_of(worker) +
                     ": the worker uses a whole core, and moves from core to core");
  }
  for (const unsigned number : worker.cpus) {
    const std::string cpu = std::to_string(number);
    const std::string core = text_of({"core ", cpu, " (", key_of(worker), ")"});
    if (!topology.isolated.contains(number)) {
      advice.push_back(
          text_of({core, " is not isolated: other programs run on it too, and the worker waits ",
                   "for them; isolcpus=", cpu, " nohz_full=", cpu,
                   " on the kernel's command line keeps it free"}));
    } else if (!topology.tickless.contains(number)) {
      advice.push_back(
          text_of({core, " is isolated, but the kernel's timer interrupts the worker; ",
                   "nohz_full=", cpu, " on the kernel's command line"}));
    }
  }
  if (worker.count > topology.nodes.size() && !topology.nodes.empty()) {
    advice.push_back("worker.count " + std::to_string(worker.count) + " is more than the " +
                     std::to_string(topology.nodes.size()) +
                     " cores of this machine: workers share cores, which gains nothing");
  }
}

}  // namespace

std::optional<config::Contradiction> object_to_cores(const config::Worker& worker,
                                                     const CpuTopology& topology) {
  if (topology.online.empty()) return std::nullopt;
  for (const unsigned cpu : worker.cpus) {
    if (topology.online.contains(cpu)) continue;
    return config::Contradiction{.path = key_of(worker),
                                 .message = "core " + std::to_string(cpu) +
                                            " does not exist on this machine, or is off: " +
                                            "write one of " + to_text(topology.online)};
  }
  return std::nullopt;
}

std::vector<std::string> advise(const config::Worker& worker, const std::vector<PortPlace>& ports,
                                const CpuTopology& topology) {
  std::vector<std::string> advice;
  for (const PortPlace& port : ports) advise_of_node(worker, port, topology, advice);
  advise_of_core(worker, topology, advice);
  for (const PortPlace& port : ports) {
    if (port.missing_offloads.empty()) continue;
    advice.push_back("port " + port.name + ": the device lacks " + joined(port.missing_offloads) +
                     "; the worker does this work itself");
  }
  return advice;
}

}  // namespace satrelay::machine
