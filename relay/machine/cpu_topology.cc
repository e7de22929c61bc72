#include "relay/machine/cpu_topology.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>

namespace satrelay::machine {
namespace {

// No machine has more CPUs. The limit keeps a malformed file from filling the memory.
constexpr unsigned kMostCpus = 8192;

std::optional<unsigned> number_of(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number >= kMostCpus) {
    return std::nullopt;
  }
  return number;
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

int CpuTopology::node_of(unsigned cpu) const {
  const auto found = nodes.find(cpu);
  return found == nodes.end() ? -1 : found->second;
}

std::set<unsigned> CpuTopology::cpus_of(int node) const {
  std::set<unsigned> cpus;
  for (const auto& [cpu, its_node] : nodes) {
    if (its_node == node) cpus.insert(cpu);
  }
  return cpus;
}

bool CpuTopology::has_several_nodes() const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const auto& each) { return each.second != nodes.begin()->second; });
}

std::set<unsigned> parse_cpu_list(std::string_view text) {
  std::set<unsigned> cpus;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view range = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t dash = range.find('-');
    const auto first = number_of(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(range.substr(dash + 1));
    if (!first || !last) continue;
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

CpuTopology read_cpu_topology(const std::filesystem::path& devices) {
  CpuTopology topology;
  topology.online = parse_cpu_list(first_line(devices / "cpu/online"));
  topology.isolated = parse_cpu_list(first_line(devices / "cpu/isolated"));
  topology.tickless = parse_cpu_list(first_line(devices / "cpu/nohz_full"));
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(devices / "node", error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("node")) continue;
    const auto node = number_of(std::string_view(name).substr(4));
    if (!node) continue;
    for (const unsigned cpu : parse_cpu_list(first_line(entry.path() / "cpulist"))) {
      topology.nodes[cpu] = static_cast<int>(*node);
    }
  }
  return topology;
}

}  // namespace satrelay::machine
