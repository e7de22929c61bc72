#include "relay/dpdk/device/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <stdexcept>

#include "relay/dpdk/device/hugepages.h"
#include "relay/dpdk/loop/scheduling.h"

namespace satrelay::dpdk {
namespace {

// Bytes for the EAL's tables, for the queues of the ports, and for fragmentation of the EAL's heap.
constexpr std::size_t kOwnMemory = std::size_t{24} << 20;

// Uses one lcore. It may run on any CPU of the process unless `cpu` names one. If several of our
// programs share a small machine, a thread that is pinned to a busy CPU would wait while another
// CPU is idle.
std::string lcores(const EalConfig& config, const Machine& machine) {
  if (config.cpu) return "0@" + std::to_string(*config.cpu);
  std::string list;
  for (const unsigned cpu : machine.cpus) {
    if (!list.empty()) list += ',';
    list += std::to_string(cpu);
  }
  return "0@(" + list + ")";
}

}  // namespace

std::vector<std::string> eal_arguments(const EalConfig& config, const Machine& machine) {
  std::vector<std::string> arguments{config.program, "--file-prefix=" + config.file_prefix,
                                     "--lcores=" + lcores(config, machine)};
  const std::size_t memory = config.memory + kOwnMemory;
  const std::size_t megabytes = (memory + (std::size_t{1} << 20) - 1) >> 20;
  arguments.emplace_back("-m");
  arguments.push_back(std::to_string(megabytes));
  // Create no files for secondary processes, so that kill -9 leaves none behind. (DPDK refuses
  // --in-memory together with --no-huge.)
  if (machine.free_hugepage_bytes >= memory) {
    arguments.emplace_back("--in-memory");
  } else {
    arguments.emplace_back("--no-huge");
    arguments.emplace_back("--no-shconf");
  }
  bool pci = false;
  for (const config::Port& port : config.ports) {
    if (port.driver != config::Driver::kPci) continue;
    arguments.push_back("--allow=" + port.pci);
    pci = true;
  }
  if (!pci) arguments.emplace_back("--no-pci");
  if (!config.verbose) {
    // Suppress useless warnings of telemetry and of the EAL. If several patterns match, the first
    // one applies to components that register later (telemetry), and the last one to components
    // that have registered already (the EAL).
    arguments.emplace_back("--log-level=lib.telemetry:critical");
    arguments.emplace_back("--log-level=*:warning");
    arguments.emplace_back("--log-level=lib.eal:error");
  }
  return arguments;
}

Eal::Eal(const EalConfig& config) {
  const HugepageLock lock;
  const Machine machine{.free_hugepage_bytes = free_hugepage_bytes(), .cpus = own_cpus()};
  std::vector<std::string> arguments = eal_arguments(config, machine);
  uses_hugepages_ = std::find(arguments.begin(), arguments.end(), "--no-huge") == arguments.end();
  std::vector<char*> pointers;
  pointers.reserve(arguments.size());
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  if (rte_eal_init(static_cast<int>(pointers.size()), pointers.data()) < 0) {
    std::string line;
    for (const std::string& argument : arguments) line += ' ' + argument;
    // The hugepages were free when free_hugepage_bytes() counted them.
    const bool taken = uses_hugepages_ && rte_errno == ENOMEM;
    throw std::runtime_error(
        std::string("DPDK does not start: ") + rte_strerror(rte_errno) + " (arguments:" + line +
        ")" + (taken ? "; another program has just taken hugepages: start it again" : ""));
  }
  if (!std::filesystem::exists(stats_socket())) {
    notices_.push_back("no stats socket at " + stats_socket() +
                       ": is another program running with the same stats_socket_prefix?");
  }
}

Eal::~Eal() { rte_eal_cleanup(); }

std::string Eal::runtime_directory() { return rte_eal_get_runtime_dir(); }

}  // namespace satrelay::dpdk
