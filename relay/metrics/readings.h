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
  bool up = false;         // the gateway has answered /satrelay/status
  std::string error = {};  // why replies are missing, for the operator; else empty
  nlohmann::ordered_json status, ports, counters, records;  // objects; ports by name
  nlohmann::ordered_json peers, rules, classes, links;      // lists
  nlohmann::ordered_json histograms;                        // a list
};

// Reads all replies, and never throws StatsError. It begins with data from snapshots, which a
// gateway with a stuck worker still gives; rules and classes are then missing. After the first
// command without an answer, it asks no more.
Readings read_gateway(ctl::StatsClient& client);
// The same, over a new connection to `socket`.
Readings read_gateway(const std::filesystem::path& socket, std::chrono::milliseconds timeout);

}  // namespace satrelay::metrics
