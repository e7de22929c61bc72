// Whether the user of a gateway may read a file.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace satrelay::ctl::doctor {

struct GatewayUser {
  std::string name;
  uid_t user = 0;
  std::vector<gid_t> groups;
};

// Looks at the rights of the file and of each folder above it. Capabilities do not count, since a
// running gateway has given them up; nor do access control lists. True if a part cannot be looked
// at.
bool may_read(const GatewayUser& user, const std::filesystem::path& file);

// The user and the groups in /proc/PID/status. `text`: the content of that file.
GatewayUser user_in_status(const std::string& text);

}  // namespace satrelay::ctl::doctor
