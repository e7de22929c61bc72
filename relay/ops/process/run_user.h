// The user to which a program changes once it no longer needs root's rights.
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

// Finds a user of this machine. Returns nullopt if there is no such user.
std::optional<RunUser> find_user(const std::string& name);

// Returns the name of a user of this machine, or "uid 1234" if it has no name. May be slow: names
// may come from a network.
std::string name_of_user(uid_t user);

// Returns "this machine has no user NAME; make it with ...".
std::string no_such_user(const std::string& name);

}  // namespace satrelay::ops
