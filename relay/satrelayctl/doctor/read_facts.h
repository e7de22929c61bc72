// Reads the facts for `satrelayctl doctor` from the file, the machine and the stats socket. It
// sends nothing to the network.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "relay/satrelayctl/doctor/facts.h"

namespace satrelay::ctl::doctor {

// `file`: the configuration; empty: none. `socket_of` returns the stats socket of the gateway with
// this stats_socket_prefix ("": not known), or throws StatsError.
Facts read_facts(const std::string& file,
                 const std::function<std::filesystem::path(const std::string& prefix)>& socket_of);

}  // namespace satrelay::ctl::doctor
