// Whom a program that root has started becomes once it needs no more of root's rights.
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
  std::vector<gid_t> groups;  // all that it is a member of
};

// Of this machine; nullopt if there is none of that name.
std::optional<RunUser> find_user(const std::string& name);

// The name of a user of this machine, or "uid 1234". May take its time: names may come from a
// network.
std::string name_of_user(uid_t user);

// "this machine has no user NAME; make it with ...".
std::string no_such_user(const std::string& name);

}  // namespace satrelay::ops
