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
  // JSON objects. The keys of `ports` are the names of the ports.
  nlohmann::ordered_json status, ports, counters, records;
  nlohmann::ordered_json peers, rules, classes, links;  // JSON lists
  nlohmann::ordered_json histograms;                    // a JSON list
};

// Reads all replies, and never throws StatsError. First sends commands that the gateway answers
// from snapshots, since it can answer them even while a worker is stuck. Then sends the commands
// for rules and classes, which need a worker. After the first command without an answer, the
// function sends no more commands, so the later replies stay null.
Readings read_gateway(ctl::StatsClient& client);
// Does the same over a new connection to `socket`.
Readings read_gateway(const std::filesystem::path& socket, std::chrono::milliseconds timeout);

}  // namespace satrelay::metrics
