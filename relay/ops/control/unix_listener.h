// A UNIX stream socket that listens at a path. The file of the socket is created with the mode of
// `access`, and the destructor removes it. A stale file is replaced. Only users that `access`
// admits get a connection.
#pragma once

#include <sys/types.h>

#include <string>

#include "relay/ops/control/socket_access.h"

namespace satrelay::ops {

class UnixListener {
 public:
  // Throws std::runtime_error, also if another process serves this path.
  UnixListener(const std::string& path, int backlog, const SocketAccess& access);
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;
  // Leaves the file if it is no longer the file of this socket.
  ~UnixListener();

  int descriptor() const { return descriptor_; }
  // Accepts the connection that has waited longest, and makes it non-blocking. Returns -1 if no
  // connection waits, or if the user of that connection is not admitted.
  int accept() const;

 private:
  std::string path_;
  SocketAccess access_;
  int descriptor_ = -1;
  // The file that this socket has made.
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace satrelay::ops
