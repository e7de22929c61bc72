#include "relay/dpdk/socket/memif_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace satrelay::dpdk {

void remove_stale_memif_socket(const std::string& path) {
  struct stat status {};
  sockaddr_un address{};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  if (path.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int probe = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool is_refused =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  ::close(probe);
  if (is_refused) ::unlink(path.c_str());
}

void give_memif_socket(const std::string& path, uid_t user) {
  [[maybe_unused]] const bool done = ::lchown(path.c_str(), user, static_cast<gid_t>(-1)) == 0;
}

}  // namespace satrelay::dpdk
