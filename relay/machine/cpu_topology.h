// The properties of the machine's cores that matter to a worker that has a core to itself, as the
// kernel reports them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string_view>

namespace satrelay::machine {

struct CpuTopology {
  std::set<unsigned> online;  // cores that can be used; empty if the kernel does not report them
  std::map<unsigned, int> nodes;  // NUMA node of each core; empty if the kernel does not report it
  // Cores of isolcpus=, to which the scheduler moves no thread by itself.
  std::set<unsigned> isolated;
  // Cores of nohz_full=, which have no timer tick while a single task runs.
  std::set<unsigned> tickless;

  int node_of(unsigned cpu) const;  // -1 if not known
  std::set<unsigned> cpus_of(int node) const;
  bool has_several_nodes() const;
};

// Parses a list of cores in the kernel's notation, such as "0-3,8". Skips parts that cannot be
// parsed.
std::set<unsigned> parse_cpu_list(std::string_view text);

// `devices` is /sys/devices/system, or a copy of it for a test.
CpuTopology read_cpu_topology(const std::filesystem::path& devices = "/sys/devices/system");

}  // namespace satrelay::machine
