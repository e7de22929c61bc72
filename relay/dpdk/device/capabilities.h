// Gives up the root rights that are needed only at start-up. In Linux each thread has a user and
// capabilities of its own (credentials(7), capabilities(7)). So all threads must give up their
// rights, including the threads that DPDK has started.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace satrelay::dpdk {

// The user that the process becomes.
struct Identity {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  // all groups of the user, `group` included; at most kMostGroups
  static constexpr std::size_t kMostGroups = 64;
};

// Reduces the capabilities of the process, and of programs that it executes, to `capabilities`
// (CAP_* of linux/capability.h). If `identity` is given, the process becomes that user and is no
// longer dumpable: other processes of the user cannot read its memory, and it writes no core file.
// Returns the names of the remaining capabilities, or "none". Throws std::runtime_error if a thread
// still has more rights after one second.
std::string keep_only(std::span<const int> capabilities,
                      const std::optional<Identity>& identity = std::nullopt);

}  // namespace satrelay::dpdk
