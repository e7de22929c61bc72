// The rights of root that start-up has needed are given up, in every thread: those that DPDK has
// started too, for users and capabilities belong to threads (credentials(7), capabilities(7)).
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace satrelay::dpdk {

// Whom the process becomes.
struct Identity {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  // at most kMostGroups; further ones, `group` among them
  static constexpr std::size_t kMostGroups = 64;
};

// Keeps of the process's capabilities (CAP_* of linux/capability.h) these and no others, now and in
// whatever it may execute, and makes it another user's; nullopt: it stays whose it is. Its memory
// can no longer be looked at by processes of that user, and leaves no core. Returns the names of
// the capabilities that are left, "none" if none is. Throws std::runtime_error if a thread does not
// obey within a second.
std::string keep_only(std::span<const int> capabilities,
                      const std::optional<Identity>& identity = std::nullopt);

}  // namespace satrelay::dpdk
