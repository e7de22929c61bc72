#include "relay/ops/control/socket_access.h"

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace satrelay::ops {
namespace {

std::vector<gid_t> further_groups(int descriptor) {
  socklen_t size = 0;
  // With a buffer of size 0, this call fails with ERANGE and sets `size` to the needed size.
  ::getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, nullptr, &size);
  std::vector<gid_t> groups(size / sizeof(gid_t));
  if (groups.empty() ||
      ::getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) {
    return {};
  }
  return groups;
}

}  // namespace

SocketAccess resolve(const std::string& group, mode_t mode) {
  SocketAccess access{mode, std::nullopt, std::nullopt};
  if (group.empty()) return access;
  const struct group* found = ::getgrnam(group.c_str());
  if (found == nullptr) {
    throw std::runtime_error("this machine has no group \"" + group +
                             "\"; make it with groupadd, or write another");
  }
  access.group = found->gr_gid;
  return access;
}

void open_to(const std::string& path, const SocketAccess& access) {
  constexpr auto kSame = static_cast<uid_t>(-1);
  // Set the group before the mode. Otherwise, members of the socket's initial group could connect
  // until the group is changed.
  const bool done =
      ::chown(path.c_str(), access.owner.value_or(kSame), access.group.value_or(kSame)) == 0 &&
      ::chmod(path.c_str(), access.mode) == 0;
  if (!done) {
    const int error = errno;
    const bool may_be_group = error == EPERM && access.group && !access.owner;
    throw std::runtime_error(
        path + ": its owner, group and mode cannot be set: " + std::strerror(error) +
        (may_be_group ? "; the user of this program must be a member of the group" : ""));
  }
}

std::optional<std::uint32_t> user_of(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

bool admits(const SocketAccess& access, int descriptor) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (peer.uid == 0 || peer.uid == ::geteuid()) return true;
  if (!access.group) return false;
  const std::vector<gid_t> further = further_groups(descriptor);
  return peer.gid == *access.group || std::ranges::find(further, *access.group) != further.end();
}

}  // namespace satrelay::ops
