// Reads the facts from the file, the machine and the stats socket. It sends nothing to the network.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "config/model/schema.h"
#include "relay/client/stats_client.h"
#include "relay/doctor/facts.h"
#include "relay/doctor/rights.h"

namespace satrelay::ctl::doctor {

// `file`: the configuration; empty: none. `socket_of` returns the stats socket of the gateway with
// this stats_socket_prefix ("": not known), or throws StatsError.
Facts read_facts(const std::string& file,
                 const std::function<std::filesystem::path(const std::string& prefix)>& socket_of);

// The parts of it.

// Waits; returns false if the reader has to stop.
using Pause = std::function<bool(std::chrono::milliseconds)>;
// Reads the replies of a gateway. If a peer is not alive, waits for `window` between two readings.
// Throws StatsError.
GatewayFacts read_gateway(StatsClient& client, std::chrono::milliseconds window,
                          const Pause& pause);
// The user of the gateway that serves the socket; nullopt if the machine does not show it.
std::optional<GatewayUser> user_of(const StatsClient& client);
// Time of the last change in milliseconds since 1970, UTC; 0 if there is no such file.
std::uint64_t changed_ms(const std::string& path);
std::uint64_t utc_ms();
// The file of the gateway, and the secrets that the configuration names.
std::vector<ReadFile> read_files_of(const std::string& path, const config::Gateway* config);
// Takes what only the engines need, such as keys, out of a configuration.
void forget_secrets(config::Gateway& config);
// Reads the facts of the machine that belong to the configuration in `facts`.
void read_machine(Facts& facts);
// Finds out which files the user of the gateway may read.
void read_rights(const std::optional<GatewayUser>& user, Facts& facts);

}  // namespace satrelay::ctl::doctor
