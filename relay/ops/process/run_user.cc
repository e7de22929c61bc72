#include "relay/ops/process/run_user.h"

#include <grp.h>
#include <pwd.h>

#include <array>

namespace satrelay::ops {

std::optional<RunUser> find_user(const std::string& name) {
  const passwd* found = ::getpwnam(name.c_str());
  if (found == nullptr) return std::nullopt;
  RunUser user{.name = name, .user = found->pw_uid, .group = found->pw_gid, .groups = {}};
  int count = 16;
  user.groups.resize(static_cast<std::size_t>(count));
  // If the array is too small, the call fails and sets `count` to the number of groups.
  while (::getgrouplist(name.c_str(), user.group, user.groups.data(), &count) < 0) {
    user.groups.resize(static_cast<std::size_t>(count));
  }
  user.groups.resize(static_cast<std::size_t>(count));
  return user;
}

std::string name_of_user(uid_t user) {
  std::array<char, 4096> room{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, room.data(), room.size(), &found) != 0 || found == nullptr) {
    return "uid " + std::to_string(user);
  }
  return found->pw_name;
}

std::string no_such_user(const std::string& name) {
  return "this machine has no user \"" + name +
         "\"; make it with: useradd --system --user-group --no-create-home --shell "
         "/usr/sbin/nologin " +
         name;
}

}  // namespace satrelay::ops
