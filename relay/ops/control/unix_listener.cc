#include "relay/ops/control/unix_listener.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "relay/ops/control/control_client.h"

namespace satrelay::ops {
namespace {

[[noreturn]] void fail_to_listen(const std::string& path, const std::string& what, int error) {
  throw std::runtime_error("socket " + path + ": " + what + ": " + std::strerror(error));
}

// Locks the folder of a socket while the socket is created or removed. Without the lock, two
// processes that start at once could both find a stale file, and the later one would remove the
// socket of the earlier one. Any user who may read the folder can take such a lock, so it only
// delays: after 300 ms the process goes on without it.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    descriptor_ = ::open(folder.empty() ? "." : folder.c_str(),
                         O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) return;  // bind() reports a folder that is missing
    // Our own processes hold the lock for milliseconds only.
    for (int attempt = 0; attempt < 30; ++attempt) {
      if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

 private:
  int descriptor_ = -1;
};

// Removes a stale socket. Throws if another process serves it, or if the file is not a socket.
void remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) {
    fail_to_listen(path, "the file exists, and is not a socket", EEXIST);
  }
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool is_served = connect_control(probe, address) || errno == EAGAIN;
  ::close(probe);
  if (is_served) fail_to_listen(path, "another process serves it", EADDRINUSE);
  ::unlink(path.c_str());
}

}  // namespace

UnixListener::UnixListener(const std::string& path, int backlog, const SocketAccess& access)
    : path_(path), access_(access) {
  const sockaddr_un address = control_address(path);
  const FolderLock lock(path);
  remove_stale(path, address);
  descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0) fail_to_listen(path, "open", errno);
  // The kernel gives the file the mode of the descriptor. With 0600, other users cannot connect
  // before open_to() is called. umask() would do the same, but to the files of all threads.
  struct stat made {};
  if (::fchmod(descriptor_, 0600) != 0 ||
      ::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    ::close(descriptor_);
    fail_to_listen(path, "bind", error);
  }
  try {
    if (::lstat(path.c_str(), &made) != 0) fail_to_listen(path, "stat", errno);
    open_to(path, access_);
    if (::listen(descriptor_, backlog) != 0) fail_to_listen(path, "listen", errno);
  } catch (...) {
    ::close(descriptor_);
    ::unlink(path.c_str());
    throw;
  }
  device_ = made.st_dev;
  inode_ = made.st_ino;
}

UnixListener::~UnixListener() {
  const FolderLock lock(path_);
  // If someone has removed the file, another process may have made a socket at the path.
  struct stat found {};
  if (::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
  ::close(descriptor_);
}

int UnixListener::accept() const {
  const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0 || admits(access_, descriptor)) return descriptor;
  // A user that is not admitted can connect only if the mode of the file was changed.
  ::close(descriptor);
  return -1;
}

}  // namespace satrelay::ops
