// The user that a program changes to once it needs root's rights no more.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace satrelay::ops {

struct RunUser {
  std::string name;
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  // all groups of the user
};

// Finds a user of this machine; nullopt if there is no such user.
std::optional<RunUser> find_user(const std::string& name);

// The name of a user of this machine, or "uid 1234". May be slow: names may come from a network.
std::string name_of_user(uid_t user);

// "this machine has no user NAME; make it with ...".
std::string no_such_user(const std::string& name);

}  // namespace satrelay::ops
