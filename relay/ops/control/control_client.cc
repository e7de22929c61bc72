#include "relay/ops/control/control_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace satrelay::ops {

sockaddr_un control_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    throw std::runtime_error("socket " + path + ": the path must have 1 to 107 characters");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

void fail_control(const std::string& path, const std::string& what, int error) {
  throw std::runtime_error("control socket " + path + ": " + what + ": " + std::strerror(error));
}

bool connect_control(int descriptor, const sockaddr_un& address) {
  return ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

std::string send_control_command(const std::string& path, std::string_view line) {
  const sockaddr_un address = control_address(path);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::string text(line);
  text += '\n';
  int error = 0;
  std::string answer;
  if (!connect_control(descriptor, address) ||
      ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL) < 0 ||
      ::shutdown(descriptor, SHUT_WR) != 0) {
    error = errno;
  }
  while (error == 0) {
    std::array<char, 4096> part{};
    const ssize_t count = ::recv(descriptor, part.data(), part.size(), 0);
    if (count < 0) error = errno == EAGAIN ? ETIMEDOUT : errno;
    if (count <= 0) break;
    answer.append(part.data(), static_cast<std::size_t>(count));
  }
  ::close(descriptor);
  if (error != 0) fail_control(path, "no answer", error);
  return answer;
}

std::string await_reload(const std::string& path, const std::function<bool()>& go_on) {
  constexpr std::chrono::milliseconds kLookEvery(50);
  std::string answer = "reading\n";
  while (answer == "reading\n" && go_on()) {
    std::this_thread::sleep_for(kLookEvery);
    answer = send_control_command(path, "reload result");
  }
  return answer;
}

}  // namespace satrelay::ops
