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

// docs/statistics.md describes the replies. A reply that was not received is null. A gateway of
// another version may leave out fields, or have others.
struct Readings {
  bool up = false;         // true if the gateway answered /satrelay/status
  std::string error = {};  // For the operator: why replies are missing. Empty if none is missing.
  // Objects; `ports` has the port names as keys.
  nlohmann::ordered_json status, ports, counters, records;
  nlohmann::ordered_json peers, rules, classes, links;  // lists
  nlohmann::ordered_json histograms;                    // a list
};

// Reads all replies, and never throws StatsError. The first commands are answered from snapshots,
// which a gateway gives even while a worker is stuck. The commands for rules and classes need the
// worker. After the first command without an answer, the function sends no more commands, and the
// later replies stay null.
Readings read_gateway(ctl::StatsClient& client);
// Does the same over a new connection to `socket`.
Readings read_gateway(const std::filesystem::path& socket, std::chrono::milliseconds timeout);

}  // namespace satrelay::metrics
