// The users that may connect to a UNIX socket: the owner, root, and the members of `group`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace satrelay::ops {

struct SocketAccess {
  mode_t mode = 0600;
  std::optional<gid_t> group;
  std::optional<uid_t> owner = {};  // nullopt means the user of the process that opens the socket
  bool is_private() const { return mode == 0600; }
};

// `group` is the name of a group of this machine, or "" for no group. Throws std::runtime_error if
// this machine has no group with this name. The message does not say which setting names it.
SocketAccess resolve(const std::string& group, mode_t mode);
// Gives the socket at `path` its owner, group and mode. Throws std::runtime_error.
void open_to(const std::string& path, const SocketAccess& access);
// Returns the user of the process at the other end of a connection, as the kernel reports it.
// Returns nullopt if the kernel does not know the user.
std::optional<std::uint32_t> user_of(int descriptor);
// True if the process at the other end of a connection may use the socket. It must run as root, as
// the user of this process, or as a member of the group.
bool admits(const SocketAccess& access, int descriptor);

}  // namespace satrelay::ops
