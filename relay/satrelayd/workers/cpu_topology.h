// The properties of the machine's cores that matter for a worker with a core of its own, as the
// kernel reports them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string_view>

namespace satrelay::satrelayd {

struct CpuTopology {
  std::map<unsigned, int> nodes;  // NUMA node of each core; empty if the kernel does not report it
  std::set<unsigned> isolated;  // cores of isolcpus=, where the scheduler puts no thread by itself
  std::set<unsigned> tickless;  // cores of nohz_full=, without a timer tick while one task runs

  int node_of(unsigned cpu) const;  // -1: unknown
  std::set<unsigned> cpus_of(int node) const;
  bool has_several_nodes() const;
};

// Parses a list of cores in the kernel's notation, such as "0-3,8". Skips parts that cannot be
// parsed.
std::set<unsigned> parse_cpu_list(std::string_view text);

// `devices`: /sys/devices/system, or a test's copy of it.
CpuTopology read_cpu_topology(const std::filesystem::path& devices = "/sys/devices/system");

}  // namespace satrelay::satrelayd
