// A telemetry server with canned replies.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl {

// Binds and listens. Returns the descriptor.
inline int listen_at(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = path.string();
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (descriptor < 0 ||
      ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(descriptor, 8) != 0) {
    throw std::runtime_error("no server at " + name);
  }
  return descriptor;
}

// Serves one client after another until it is destroyed. `answer` maps a command to the reply
// packet. An empty reply is not sent.
class FakeTelemetry {
 public:
  using Answer = std::function<std::string(const std::string& command)>;

  FakeTelemetry(const std::filesystem::path& path, std::string greeting, Answer answer)
      : descriptor_(listen_at(path)),
        greeting_(std::move(greeting)),
        answer_(std::move(answer)),
        thread_([this] { serve(); }) {}
  FakeTelemetry(const FakeTelemetry&) = delete;
  FakeTelemetry& operator=(const FakeTelemetry&) = delete;
  ~FakeTelemetry() {
    ::shutdown(descriptor_, SHUT_RDWR);
    thread_.join();
    ::close(descriptor_);
  }

 private:
  void serve() {
    for (;;) {
      const int client = ::accept(descriptor_, nullptr, nullptr);
      if (client < 0) return;
      if (!greeting_.empty()) ::send(client, greeting_.data(), greeting_.size(), MSG_NOSIGNAL);
      char buffer[1024];
      for (;;) {
        const ssize_t size = ::recv(client, buffer, sizeof buffer, 0);
        if (size <= 0) break;
        const std::string reply = answer_(std::string(buffer, static_cast<std::size_t>(size)));
        if (!reply.empty()) ::send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
      }
      ::close(client);
    }
  }

  int descriptor_;
  std::string greeting_;
  Answer answer_;
  std::thread thread_;
};

inline constexpr const char* kGreeting =
    R"({"version":"DPDK 22.11.11","pid":42,"max_output_len":16384})";

}  // namespace satrelay::ctl
