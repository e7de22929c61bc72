#include "config/checks/machine_memory.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "config/text/format.h"

namespace satrelay::config {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kEnough = std::numeric_limits<std::int64_t>::max();

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

// Reads a file that has one number. nullopt if the file is missing or says "max".
std::optional<std::uint64_t> read_number(const fs::path& file) {
  std::string word;
  return std::ifstream(file) >> word ? number_in(word) : std::nullopt;
}

// The numbers of a file by their keys, as in /proc/meminfo ("MemTotal:") and memory.stat.
class Table {
 public:
  explicit Table(const fs::path& file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string key;
      std::string value;
      if (!(words >> key >> value)) continue;
      if (const auto number = number_in(value)) entries_.emplace_back(key, *number);
    }
  }
  std::optional<std::uint64_t> find(std::string_view key) const {
    const auto found = std::ranges::find(entries_, key, &Entry::first);
    return found == entries_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  using Entry = std::pair<std::string, std::uint64_t>;
  std::vector<Entry> entries_;
};

// The names of files, and of keys in memory.stat, in a version of control groups.
struct Names {
  const char* limit;
  const char* usage;
  // Keys of the page cache in memory.stat. Their values include all groups below.
  const char* inactive;
  const char* active;
};
constexpr Names kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                          "total_active_file"};
constexpr Names kVersion2{"memory.max", "memory.current", "inactive_file", "active_file"};

// A mounted hierarchy of control groups that counts memory. The mount at `where` shows the folder
// `part` of the hierarchy.
struct Hierarchy {
  const Names* names;
  fs::path part;
  fs::path where;
};

bool has_word(const std::string& list, std::string_view word) {
  std::istringstream words(list);
  for (std::string each; std::getline(words, each, ',');) {
    if (each == word) return true;
  }
  return false;
}

// Parses lines as in proc(5): "36 35 98:0 /part /where rw,noatime master:1 - type source options".
std::vector<Hierarchy> hierarchies(const fs::path& root) {
  std::vector<Hierarchy> found;
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream behind(line.substr(dash + 3));
    std::string skipped;
    std::string part;
    std::string where;
    std::string type;
    std::string options;
    before >> skipped >> skipped >> skipped >> part >> where;
    behind >> type >> skipped >> options;
    if (type == "cgroup2") found.push_back({&kVersion2, part, where});
    if (type == "cgroup" && has_word(options, "memory")) {
      found.push_back({&kVersion1, part, where});
    }
  }
  return found;
}

// The process's group in the hierarchy, from /proc/self/cgroup ("4:memory:/a/b", "0::/a/b").
std::optional<fs::path> group_in(const Hierarchy& hierarchy, const fs::path& root) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_this =
        hierarchy.names == &kVersion2 ? line.starts_with("0::") : has_word(controllers, "memory");
    if (is_this) return line.substr(second + 1);
  }
  return std::nullopt;
}

void lower(ByteCount& to, std::uint64_t value) { to = std::min(to, ByteCount(value)); }

void look_at_group(const fs::path& folder, const std::string& group, const Names& names,
                   MachineMemory& memory) {
  const auto limit = read_number(folder / names.limit);
  if (!limit) return;
  if (ByteCount(*limit) < memory.total) {
    memory.total = ByteCount(*limit);
    memory.total_of = "control group " + group + " allows";
  }
  const Table stat(folder / "memory.stat");
  const std::uint64_t usage = read_number(folder / names.usage).value_or(0);
  const std::uint64_t cache =
      stat.find(names.inactive).value_or(0) + stat.find(names.active).value_or(0);
  const std::uint64_t used = usage - std::min(usage, cache);
  lower(memory.available, *limit - std::min(*limit, used));
}

// Inspects each group from the process's own up to the root of the mount, because the limit of a
// group holds for all groups below it.
void look_at(const Hierarchy& hierarchy, const fs::path& root, MachineMemory& memory) {
  const auto group = group_in(hierarchy, root);
  if (!group) return;
  // In a container, the mount may show a part of the hierarchy without the process's group. Then
  // only the top of the mount is inspected.
  fs::path below = group->lexically_relative(hierarchy.part);
  if (below.empty() || *below.begin() == "..") below = ".";
  const fs::path top = root / hierarchy.where.relative_path();
  for (fs::path at = below;; at = at.parent_path()) {
    const fs::path name = "/" / (at == "." ? fs::path() : at);
    look_at_group(top / at, name.string(), *hierarchy.names, memory);
    if (at.empty() || at == ".") return;
  }
}

std::string whole_mebibytes(ByteCount size) { return to_text(ByteCount(size.value() >> 20 << 20)); }

}  // namespace

MachineMemory machine_memory(const fs::path& root) {
  constexpr std::uint64_t kKilobyte = 1024;
  const Table table(root / "proc/meminfo");
  MachineMemory memory;
  const std::uint64_t page = table.find("Hugepagesize:").value_or(0) * kKilobyte;
  memory.huge_total = ByteCount(table.find("HugePages_Total:").value_or(0) * page);
  const std::uint64_t free_pages = table.find("HugePages_Free:").value_or(0);
  const std::uint64_t promised = table.find("HugePages_Rsvd:").value_or(0);
  memory.huge_available = ByteCount((free_pages - std::min(free_pages, promised)) * page);

  const std::uint64_t total = table.find("MemTotal:").value_or(kEnough / kKilobyte) * kKilobyte;
  memory.total = ByteCount(total - std::min(total, memory.huge_total.value()));
  memory.total_of = "this machine has";
  const auto available = table.find("MemAvailable:");
  memory.available = ByteCount(available ? *available * kKilobyte : memory.total.value());
  for (const Hierarchy& hierarchy : hierarchies(root)) look_at(hierarchy, root, memory);
  memory.available = std::min(memory.available, memory.total);
  return memory;
}

std::string exceeds_total(ByteCount needed, const MachineMemory& machine) {
  if (needed <= machine.total || needed <= machine.huge_total) return "";
  return "more than " + machine.total_of + " (" + whole_mebibytes(machine.total) + ")";
}

std::string exceeds_available(ByteCount needed, const MachineMemory& machine) {
  if (needed <= machine.available || needed <= machine.huge_available) return "";
  return "more than is unused of what " + machine.total_of + " (" +
         whole_mebibytes(machine.available) + " of " + whole_mebibytes(machine.total) + ")";
}

}  // namespace satrelay::config
