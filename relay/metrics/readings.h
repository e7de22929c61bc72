// What a gateway tells on its stats socket, read at once.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace satrelay::ctl {
class StatsClient;
}

namespace satrelay::metrics {

// Each answer is as docs/statistics.md describes it; null: not had. A gateway of another version
// may leave out fields, or have others.
struct Readings {
  bool up = false;         // the gateway has answered /satrelay/status
  std::string error = {};  // why not all was had, for the operator; else empty
  nlohmann::ordered_json status, ports, counters, records;  // objects; ports by name
  nlohmann::ordered_json peers, rules, classes, links;      // lists
  nlohmann::ordered_json histograms;                        // a list
};

// Never throws StatsError. What comes from snapshots is asked first: a gateway whose worker is
// stuck still tells that, and has neither rules nor classes. What follows a question without an
// answer is not asked any more.
Readings read_gateway(ctl::StatsClient& client);
// The same over a connection of its own.
Readings read_gateway(const std::filesystem::path& socket, std::chrono::milliseconds timeout);

}  // namespace satrelay::metrics
