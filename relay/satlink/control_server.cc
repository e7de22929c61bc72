#include "relay/satlink/control_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace satrelay::satlink {
namespace {

constexpr Duration kLookEvery = Duration::milliseconds(2);
constexpr Duration kClientTimeout = Duration::seconds(60);

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    throw std::runtime_error("control socket: the path must have 1 to 107 characters");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw std::runtime_error("control socket " + path + ": " + what + ": " + std::strerror(error));
}

bool connect_to(int descriptor, const sockaddr_un& address) {
  return ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Removes a socket that nobody serves any more, and nothing else.
void remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) fail(path, "the file is there and is no socket", EEXIST);
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool is_served = connect_to(probe, address) || errno == EAGAIN;
  ::close(probe);
  if (is_served) fail(path, "another process serves it", EADDRINUSE);
  ::unlink(path.c_str());
}

}  // namespace

ControlServer::ControlServer(const std::string& path, dpdk::PollLoop& loop, Handler handler)
    : path_(path), loop_(loop), handler_(std::move(handler)) {
  const sockaddr_un address = address_of(path);
  remove_stale(path, address);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) fail(path, "open", errno);
  // The file is born with its mode: there is no moment in which others may connect.
  const mode_t mask = ::umask(0177);
  const int bound = ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(mask);
  if (bound != 0 || ::listen(listener_, static_cast<int>(kMostClients)) != 0) {
    ::close(listener_);
    fail(path, "bind", error);
  }
  loop_.watch(listener_);
}

ControlServer::~ControlServer() {
  for (Client& client : clients_) close(client);
  loop_.unwatch(listener_);
  ::close(listener_);
  ::unlink(path_.c_str());
}

void ControlServer::service(Instant now) {
  if (now < next_look_) return;
  next_look_ = now + kLookEvery;
  accept_clients(now);
  for (Client& client : clients_) {
    if (client.descriptor < 0) continue;
    read_from(client, now);
    if (client.descriptor >= 0 && now - client.last_heard > kClientTimeout) close(client);
  }
}

void ControlServer::accept_clients(Instant now) {
  const auto place = std::find_if(clients_.begin(), clients_.end(),
                                  [](const Client& client) { return client.descriptor < 0; });
  const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) return;
  if (place == clients_.end()) {
    // Refused rather than left waiting: a readable listener would keep the loop awake.
    ::close(descriptor);
    return;
  }
  place->descriptor = descriptor;
  place->length = 0;
  place->last_heard = now;
  loop_.watch(descriptor);
}

void ControlServer::read_from(Client& client, Instant now) {
  const ssize_t count = ::recv(client.descriptor, client.line.data() + client.length,
                               client.line.size() - client.length, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    close(client);
    return;
  }
  client.length += static_cast<std::size_t>(count);
  client.last_heard = now;
  if (!answer_lines(client)) close(client);
}

// False when the connection is to be closed.
bool ControlServer::answer_lines(Client& client) {
  while (true) {
    char* const begin = client.line.data();
    char* const end = begin + client.length;
    char* const newline = std::find(begin, end, '\n');
    if (newline == end) break;
    const Answer answer =
        handler_(std::string_view(begin, static_cast<std::size_t>(newline - begin)));
    if (!send(client, answer.text) || answer.close) return false;
    std::copy(newline + 1, end, begin);
    client.length = static_cast<std::size_t>(end - (newline + 1));
  }
  if (client.length < client.line.size()) return true;
  send(client, "error: the line is too long\n");
  return false;
}

bool ControlServer::send(Client& client, std::string_view text) {
  // An answer fits the socket's buffer; a client that does not read loses its connection.
  return ::send(client.descriptor, text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

void ControlServer::close(Client& client) {
  if (client.descriptor < 0) return;
  loop_.unwatch(client.descriptor);
  ::close(client.descriptor);
  client.descriptor = -1;
}

std::string send_control_command(const std::string& path, std::string_view line) {
  const sockaddr_un address = address_of(path);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string text(line);
  text += '\n';
  int error = 0;
  std::string answer;
  if (!connect_to(descriptor, address) ||
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
  if (error != 0) fail(path, "cannot talk to satlink", error);
  return answer;
}

}  // namespace satrelay::satlink
