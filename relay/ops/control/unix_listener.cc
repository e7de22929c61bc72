#include "relay/ops/control/unix_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "relay/ops/control/control_client.h"

namespace satrelay::ops {
namespace {

// Removes a stale socket. Throws if another process serves it, or if the file is not a socket.
void remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) fail_control(path, "the file exists, and is not a socket", EEXIST);
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool is_served = connect_control(probe, address) || errno == EAGAIN;
  ::close(probe);
  if (is_served) fail_control(path, "another process serves it", EADDRINUSE);
  ::unlink(path.c_str());
}

}  // namespace

UnixListener::UnixListener(const std::string& path, int backlog, const SocketAccess& access)
    : path_(path), access_(access) {
  const sockaddr_un address = control_address(path);
  remove_stale(path, address);
  descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0) fail_control(path, "open", errno);
  // Create the file with mode 0600, so that other users cannot connect before open_to() is called.
  const mode_t mask = ::umask(0177);
  const int bound =
      ::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(mask);
  if (bound != 0 || ::listen(descriptor_, backlog) != 0) {
    ::close(descriptor_);
    fail_control(path, "bind", error);
  }
  try {
    open_to(path, access_);
  } catch (...) {
    ::close(descriptor_);
    ::unlink(path.c_str());
    throw;
  }
}

UnixListener::~UnixListener() {
  ::close(descriptor_);
  ::unlink(path_.c_str());
}

int UnixListener::accept() const {
  const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0 || admits(access_, descriptor)) return descriptor;
  // A user that is not admitted can connect only if the mode of the file was changed.
  ::close(descriptor);
  return -1;
}

}  // namespace satrelay::ops
