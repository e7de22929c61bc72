// A UNIX stream socket that listens at a path: born with its mode, a stale file replaced, removed
// at the end; and only those that may get in.
#pragma once

#include <string>

#include "relay/ops/control/socket_access.h"

namespace satrelay::ops {

class UnixListener {
 public:
  // Throws std::runtime_error, also if another process serves this path.
  UnixListener(const std::string& path, int backlog, const SocketAccess& access);
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;
  ~UnixListener();

  int descriptor() const { return descriptor_; }
  // The connection that has waited longest, non-blocking, of somebody who may be there; -1: none.
  int accept() const;

 private:
  std::string path_;
  SocketAccess access_;
  int descriptor_ = -1;
};

}  // namespace satrelay::ops
