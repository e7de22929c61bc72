// Who may use a UNIX socket: its owner and root, and a group if there is one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace satrelay::ops {

struct SocketAccess {
  mode_t mode = 0600;
  std::optional<gid_t> group;
  std::optional<uid_t> owner = {};  // nullopt: whose process opens it
  bool is_private() const { return mode == 0600; }
};

// `group`: a name of this machine, or "". Throws std::runtime_error if there is none of that name.
SocketAccess resolve(const std::string& group, mode_t mode);
// Gives the socket at `path` its owner, group and mode. Throws std::runtime_error.
void open_to(const std::string& path, const SocketAccess& access);
// Whose process is at the other end of a connection, as the kernel knows it; nullopt: it is gone.
std::optional<std::uint32_t> user_of(int descriptor);
// Whether the process at the other end of a connection may be there: root, the user of this
// process, or a member of the group.
bool admits(const SocketAccess& access, int descriptor);

}  // namespace satrelay::ops
