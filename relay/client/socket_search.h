// Finds the stats sockets of this machine's gateways.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace satrelay::ctl {

// The folders in which DPDK programs keep their sockets. Which folder DPDK uses depends on the
// variable RUNTIME_DIRECTORY, which systemd sets, and on whether the user is root.
std::vector<std::filesystem::path> runtime_folders();

// True if a process listens on the socket, even if this user may not connect to it. A killed
// gateway leaves its socket behind.
bool has_listener(const std::filesystem::path& socket);

// Sockets of running programs with a DPDK file prefix that begins with "satrelay", sorted.
std::vector<std::filesystem::path> find_stats_sockets(
    const std::vector<std::filesystem::path>& folders);

// The socket to use. `wanted` is a path, a prefix such as "satrelay-a", or empty. If it is empty,
// there must be only one gateway. Throws StatsError if there is none, or if several run and none
// was named.
std::filesystem::path choose_stats_socket(const std::string& wanted,
                                          const std::vector<std::filesystem::path>& folders);

}  // namespace satrelay::ctl
