// What the kernel says of the machine's cores, as far as it concerns a worker that is to have one.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string_view>

namespace satrelay::satrelayd {

struct CpuTopology {
  std::map<unsigned, int> nodes;  // NUMA node of each core; empty where the kernel tells nothing
  std::set<unsigned> isolated;    // isolcpus=: the scheduler puts nobody there by itself
  std::set<unsigned> tickless;    // nohz_full=: no timer tick while one task runs

  int node_of(unsigned cpu) const;  // -1: unknown
  std::set<unsigned> cpus_of(int node) const;
  bool has_several_nodes() const;
};

// "0-3,8": cores in the kernel's notation; what cannot be read is left out.
std::set<unsigned> parse_cpu_list(std::string_view text);

// `devices`: /sys/devices/system, or a test's copy of it.
CpuTopology read_cpu_topology(const std::filesystem::path& devices = "/sys/devices/system");

}  // namespace satrelay::satrelayd
