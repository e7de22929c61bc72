#include "relay/doctor/core_loads.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

namespace satrelay::ctl::doctor {
namespace {

CoreTimes read_core_times() {
  std::ostringstream text;
  text << std::ifstream("/proc/stat").rdbuf();
  return core_times(text.str());
}

}  // namespace

CoreTimes core_times(const std::string& text) {
  // Columns behind the name: user, nice, system, idle, iowait, irq, softirq, steal. The two behind
  // these are parts of user and nice.
  constexpr int kColumns = 8;
  constexpr int kIdle = 3;
  constexpr int kWaitsForDisk = 4;
  CoreTimes times;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    unsigned core = 0;
    if (!name.starts_with("cpu") || name.size() == 3) continue;
    if (std::from_chars(name.data() + 3, name.data() + name.size(), core).ec != std::errc())
      continue;
    CoreTime time;
    std::uint64_t ticks = 0;
    for (int column = 0; column < kColumns && words >> ticks; ++column) {
      time.all += ticks;
      if (column == kIdle || column == kWaitsForDisk) time.idle += ticks;
    }
    times[core] = time;
  }
  return times;
}

std::map<unsigned, double> busy_shares(const CoreTimes& before, const CoreTimes& after) {
  std::map<unsigned, double> shares;
  for (const auto& [core, now] : after) {
    const auto then = before.find(core);
    if (then == before.end() || now.all <= then->second.all) continue;
    const auto all = static_cast<double>(now.all - then->second.all);
    // The kernel may set the idle time back a little.
    const std::uint64_t idle = now.idle - std::min(now.idle, then->second.idle);
    shares[core] = 1 - std::min(1.0, static_cast<double>(idle) / all);
  }
  return shares;
}

std::map<unsigned, double> read_core_loads(std::chrono::milliseconds interval) {
  const CoreTimes before = read_core_times();
  std::this_thread::sleep_for(interval);
  return busy_shares(before, read_core_times());
}

}  // namespace satrelay::ctl::doctor
