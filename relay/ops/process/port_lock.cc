#include "relay/ops/process/port_lock.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace satrelay::ops {
namespace {

ino_t network_namespace() {
  struct stat found {};
  return ::stat("/proc/self/ns/net", &found) == 0 ? found.st_ino : 0;
}

}  // namespace

std::filesystem::path port_folder() {
  std::filesystem::path folder = "/run/satrelay";
  if (::geteuid() != 0) {
    const char* own = std::getenv("XDG_RUNTIME_DIR");
    folder = own != nullptr ? std::filesystem::path(own) / "satrelay"
                            : std::filesystem::path("/tmp/satrelay-" + std::to_string(::geteuid()));
  }
  struct stat found {};
  if ((::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) ||
      ::lstat(folder.c_str(), &found) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make " + folder.string());
  }
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid()) {
    throw std::system_error(EPERM, std::generic_category(),
                            folder.string() + " is no folder of this user");
  }
  return folder;
}

std::filesystem::path port_file(const std::string& name, const std::string& suffix) {
  return port_folder() / ("port-" + std::to_string(network_namespace()) + "-" + name + suffix);
}

PortLock::PortLock(const std::string& interface)
    : lock_(port_file(interface, ".lock"), "interface " + interface) {}

}  // namespace satrelay::ops
