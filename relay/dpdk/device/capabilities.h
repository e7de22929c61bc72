// Gives up the rights of root that start-up has needed. Users and capabilities belong to threads,
// so every thread gives them up, including those that DPDK has started (credentials(7),
// capabilities(7)).
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

// Reduces the process's capabilities to these (CAP_* of linux/capability.h), now and in any program
// that it executes. If `identity` is given, the process becomes that user. Other processes of that
// user can then not read its memory, and it leaves no core file. Returns the names of the
// capabilities that are left, "none" if none is. Throws std::runtime_error if a thread still has
// more rights after a second.
std::string keep_only(std::span<const int> capabilities,
                      const std::optional<Identity>& identity = std::nullopt);

}  // namespace satrelay::dpdk
