// How busy each core of the machine is.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace satrelay::ctl::doctor {

// The time that a core has been idle, and in all, in ticks since the start of the machine.
struct CoreTime {
  std::uint64_t idle = 0;
  std::uint64_t all = 0;
};
using CoreTimes = std::map<unsigned, CoreTime>;

// `text`: the content of /proc/stat.
CoreTimes core_times(const std::string& text);
// The busy share of each core between two readings, 0 to 1.
std::map<unsigned, double> busy_shares(const CoreTimes& before, const CoreTimes& after);
// Reads /proc/stat twice.
std::map<unsigned, double> read_core_loads(std::chrono::milliseconds interval);

}  // namespace satrelay::ctl::doctor
