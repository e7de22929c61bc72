#include "relay/doctor/rights.h"

#include <sys/stat.h>

#include <algorithm>
#include <sstream>

#include "relay/ops/process/run_user.h"

namespace satrelay::ctl::doctor {
namespace {

constexpr mode_t kRead = 4;
constexpr mode_t kEnter = 1;

bool is_allowed(const GatewayUser& user, const std::filesystem::path& path, mode_t wanted) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return true;
  mode_t mode = facts.st_mode;
  if (facts.st_uid == user.user) {
    mode >>= 6;
  } else if (std::ranges::find(user.groups, facts.st_gid) != user.groups.end()) {
    mode >>= 3;
  }
  return (mode & wanted) != 0;
}

}  // namespace

bool may_read(const GatewayUser& user, const std::filesystem::path& file) {
  const std::filesystem::path whole = std::filesystem::absolute(file);
  for (auto folder = whole.parent_path();; folder = folder.parent_path()) {
    if (!is_allowed(user, folder, kEnter)) return false;
    if (folder == folder.root_path()) break;
  }
  return is_allowed(user, whole, kRead);
}

GatewayUser user_in_status(const std::string& text) {
  GatewayUser found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    unsigned real = 0;
    unsigned effective = 0;
    words >> key;
    if (key == "Uid:" && words >> real >> effective) found.user = effective;
    if (key == "Gid:" && words >> real >> effective) found.groups.push_back(effective);
    if (key == "Groups:") {
      for (gid_t group = 0; words >> group;) found.groups.push_back(group);
    }
  }
  found.name = ops::name_of_user(found.user);
  return found;
}

}  // namespace satrelay::ctl::doctor
