// The replies of a gateway's stats socket, read together.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace satrelay::ctl {
class StatsClient;
}

namespace satrelay::metrics {

// Each reply is as docs/statistics.md describes it; null: not received. A gateway of another
// version may leave out fields, or have others.
struct Readings {
  bool up = false;         // the gateway has answered /satrelay/status
  std::string error = {};  // why replies are missing, for the operator; else empty
  nlohmann::ordered_json status, ports, counters, records;  // objects; ports by name
  nlohmann::ordered_json peers, rules, classes, links;      // lists
  nlohmann::ordered_json histograms;                        // a list
};

// Never throws StatsError. Asks first for data from snapshots: a gateway with a stuck worker still
// answers that, but has neither rules nor classes. After a question without an answer, asks no
// more.
Readings read_gateway(ctl::StatsClient& client);
// The same over a connection of its own.
Readings read_gateway(const std::filesystem::path& socket, std::chrono::milliseconds timeout);

}  // namespace satrelay::metrics
