#include "relay/satrelayctl/support/machine.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "relay/text/table.h"

namespace satrelay::ctl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostInterfaces = 64;

// Returns the names in a folder that begin with `begin`, sorted by number: node2 before node10.
std::vector<std::string> names_in(const fs::path& folder, std::string_view begin) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(begin)) names.push_back(std::move(name));
  }
  std::ranges::sort(names, {},
                    [](const std::string& name) { return std::pair(name.size(), name); });
  return names;
}

// Returns the "key : value" lines of a file. If a key occurs more than once, its first line is
// used.
std::map<std::string, std::string> values_of(const fs::path& file) {
  std::map<std::string, std::string> values;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    values.emplace(key, value == std::string::npos ? "" : line.substr(value));
  }
  return values;
}

std::string value_of(const std::map<std::string, std::string>& values, const char* key) {
  const auto found = values.find(key);
  return found == values.end() ? "-" : found->second;
}

// Returns those features of the processor that decide which code the gateway and its libraries use.
std::string abilities(const std::string& flags) {
  constexpr std::string_view kAsked[] = {"sse4_2",     "pclmulqdq",    "aes",         "avx",
                                         "avx2",       "bmi2",         "vaes",        "gfni",
                                         "avx512f",    "avx512vl",     "avx512bw",    "avx512dq",
                                         "vpclmulqdq", "constant_tsc", "nonstop_tsc", "hypervisor"};
  std::istringstream words(flags);
  std::set<std::string> has;
  for (std::string word; words >> word;) has.insert(word);
  std::string text;
  for (const std::string_view each : kAsked) {
    if (has.contains(std::string(each))) text.append(text.empty() ? "" : " ").append(each);
  }
  return text.empty() ? "-" : text;
}

// Returns only those options of the kernel's command line that concern cores and memory.
std::string kernel_options(const fs::path& root) {
  constexpr std::string_view kAsked[] = {
      "isolcpus", "nohz", "rcu_nocbs",   "irqaffinity",          "hugepages", "default_hugepagesz",
      "intel_",   "amd_", "iommu",       "mitigations",          "idle",      "processor.",
      "nosmt",    "tsc",  "clocksource", "transparent_hugepage", "numa",      "preempt",
      "maxcpus"};
  std::istringstream words(line_of(root / "proc/cmdline"));
  std::string text;
  for (std::string word; words >> word;) {
    if (std::ranges::any_of(kAsked,
                            [&](std::string_view each) { return word.starts_with(each); })) {
      text.append(text.empty() ? "" : " ").append(word);
    }
  }
  return text.empty() ? "-" : text;
}

std::string section(const std::string& title, const std::vector<text::Row>& rows) {
  return title + "\n" + text::format_pairs(rows) + "\n";
}

std::string processor(const fs::path& root) {
  const auto info = values_of(root / "proc/cpuinfo");
  const fs::path all = root / "sys/devices/system/cpu";
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  std::size_t threads = 0;
  for (const std::string& name : names_in(all, "cpu")) {
    const fs::path topology = all / name / "topology";
    std::error_code error;
    if (!fs::is_directory(topology, error)) continue;
    ++threads;
    const std::string socket = line_of(topology / "physical_package_id");
    sockets.insert(socket);
    cores.emplace(socket, line_of(topology / "core_id"));
  }
  return section(
      "processor",
      {{"model", value_of(info, "model name")},
       {"sockets, cores, threads", std::to_string(sockets.size()) + ", " +
                                       std::to_string(cores.size()) + ", " +
                                       std::to_string(threads)},
       {"online", line_of(all / "online")},
       {"isolated", line_of(all / "isolated")},
       {"nohz_full", line_of(all / "nohz_full")},
       {"hyper-threading", line_of(all / "smt/control")},
       {"frequency governor of cpu0", line_of(all / "cpu0/cpufreq/scaling_governor")},
       {"clock source",
        line_of(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")},
       {"instructions", abilities(value_of(info, "flags"))},
       {"load", line_of(root / "proc/loadavg")},
       {"pressure", line_of(root / "proc/pressure/cpu")}});
}

std::string memory(const fs::path& root) {
  const auto info = values_of(root / "proc/meminfo");
  std::vector<text::Row> rows;
  for (const char* key : {"MemTotal", "MemAvailable", "SwapTotal", "SwapFree", "Mlocked"}) {
    rows.push_back({key, value_of(info, key)});
  }
  rows.push_back(
      {"transparent hugepages", line_of(root / "sys/kernel/mm/transparent_hugepage/enabled")});
  return section("memory", rows);
}

void add_hugepages(const fs::path& folder, const std::string& where, std::vector<text::Row>& rows) {
  for (const std::string& size : names_in(folder, "hugepages-")) {
    rows.push_back({where + size.substr(size.find('-') + 1),
                    line_of(folder / size / "nr_hugepages") + " pages, " +
                        line_of(folder / size / "free_hugepages") + " free"});
  }
}

std::string hugepages(const fs::path& root) {
  std::vector<text::Row> rows;
  add_hugepages(root / "sys/kernel/mm/hugepages", "", rows);
  const fs::path nodes = root / "sys/devices/system/node";
  for (const std::string& node : names_in(nodes, "node")) {
    add_hugepages(nodes / node / "hugepages", node + ", ", rows);
  }
  std::ifstream mounts(root / "proc/mounts");
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" hugetlbfs ") != std::string::npos) rows.push_back({"mounted", line});
  }
  return section("hugepages", rows);
}

std::string numa_nodes(const fs::path& root) {
  std::vector<text::Row> rows;
  const fs::path nodes = root / "sys/devices/system/node";
  for (const std::string& node : names_in(nodes, "node")) {
    rows.push_back({node, "cpus " + line_of(nodes / node / "cpulist") + "; distances " +
                              line_of(nodes / node / "distance")});
  }
  return section("NUMA", rows);
}

}  // namespace

std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  return std::getline(in, line) && !line.empty() ? line : "-";
}

std::string target_of(const fs::path& link) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  return error || target.empty() ? "-" : target.filename().string();
}

std::string describe_machine(const fs::path& root) {
  return processor(root) + numa_nodes(root) + memory(root) + hugepages(root) +
         section("kernel", {{"options of its start", kernel_options(root)},
                            {"net.core.rmem_max", line_of(root / "proc/sys/net/core/rmem_max")},
                            {"net.core.netdev_max_backlog",
                             line_of(root / "proc/sys/net/core/netdev_max_backlog")}});
}

std::string operating_system(const fs::path& root) {
  std::ifstream in(root / "etc/os-release");
  constexpr std::string_view kKey = "PRETTY_NAME=";
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kKey)) continue;
    line.erase(0, kKey.size());
    std::erase(line, '"');
    return line;
  }
  return "-";
}

std::vector<std::string> network_interfaces(const fs::path& root) {
  std::vector<std::string> names = names_in(root / "sys/class/net", "");
  std::erase(names, "lo");
  // Some entries are files, such as bonding_masters.
  std::erase_if(names, [&](const std::string& name) {
    std::error_code error;
    return !fs::is_directory(root / "sys/class/net" / name, error);
  });
  if (names.size() > kMostInterfaces) names.resize(kMostInterfaces);
  return names;
}

std::string describe_interface(const fs::path& root, const std::string& name) {
  const fs::path its = root / "sys/class/net" / name;
  const fs::path device = its / "device";
  return section(name,
                 {{"state", line_of(its / "operstate") + ", carrier " + line_of(its / "carrier")},
                  {"MTU", line_of(its / "mtu")},
                  {"MAC", line_of(its / "address")},
                  {"Mbit/s", line_of(its / "speed")},
                  {"driver", target_of(device / "driver")},
                  {"device", target_of(device)},
                  {"NUMA node", line_of(device / "numa_node")},
                  {"bridge or bond", target_of(its / "master")},
                  {"queues in, out", std::to_string(names_in(its / "queues", "rx-").size()) + ", " +
                                         std::to_string(names_in(its / "queues", "tx-").size())}});
}

std::string describe_cards(const fs::path& root) {
  std::vector<text::Row> rows;
  const fs::path bus = root / "sys/bus/pci/devices";
  for (const std::string& address : names_in(bus, "")) {
    const fs::path card = bus / address;
    if (!line_of(card / "class").starts_with("0x02")) continue;
    rows.push_back({address, "vendor " + line_of(card / "vendor") + ", device " +
                                 line_of(card / "device") + ", driver " +
                                 target_of(card / "driver") + ", NUMA node " +
                                 line_of(card / "numa_node") + ", IOMMU group " +
                                 target_of(card / "iommu_group") + ", link " +
                                 line_of(card / "current_link_speed") + " x" +
                                 line_of(card / "current_link_width")});
  }
  return section("network cards on the PCI bus", rows);
}

}  // namespace satrelay::ctl
