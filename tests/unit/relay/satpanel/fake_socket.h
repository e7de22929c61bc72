// A stream socket that plays a gateway's. The test decides how it serves.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "relay/ops/control/control_client.h"

namespace satrelay::panel {

// Serves one client after another until it is destroyed. `serve` gets the descriptor of each
// client.
class FakeSocket {
 public:
  FakeSocket(const std::filesystem::path& path, std::function<void(int descriptor)> serve)
      : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = ops::control_address(path.string());
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 8) != 0) {
      throw std::runtime_error("no server at " + path.string());
    }
    thread_ = std::thread([this, serve = std::move(serve)] {
      for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0;) {
        serve(client);
        ::close(client);
      }
    });
  }
  FakeSocket(const FakeSocket&) = delete;
  FakeSocket& operator=(const FakeSocket&) = delete;
  ~FakeSocket() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

 private:
  int listener_;
  std::thread thread_;
};

// Returns all bytes that the client sends until it shuts down its side.
inline std::string heard_from(int descriptor) {
  std::string heard;
  char part[1024];
  for (ssize_t count = 0; (count = ::recv(descriptor, part, sizeof part, 0)) > 0;) {
    heard.append(part, static_cast<std::size_t>(count));
  }
  return heard;
}

inline void say(int descriptor, const void* data, std::size_t size) {
  static_cast<void>(::send(descriptor, data, size, MSG_NOSIGNAL));
}

}  // namespace satrelay::panel
