#include "relay/ops/control/control_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "relay/ops/control/control_client.h"

namespace satrelay::ops {
namespace {

constexpr Duration kLookEvery = Duration::milliseconds(2);
constexpr Duration kClientTimeout = Duration::seconds(60);

}  // namespace

ControlServer::ControlServer(const std::string& path, Wake wake, Handler handler,
                             const SocketAccess& access)
    : listener_(path, kMostClients, access), wake_(std::move(wake)), handler_(std::move(handler)) {
  wake_.watch(listener_.descriptor());
}

ControlServer::~ControlServer() {
  for (Client& client : clients_) close(client);
  wake_.unwatch(listener_.descriptor());
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
  const int descriptor = listener_.accept();
  if (descriptor < 0) return;
  const auto user = user_of(descriptor);
  if (place == clients_.end() || !user) {
    // Refuse the client. If it stayed in the listener's queue, the listener would stay readable,
    // and the main loop could not sleep.
    ::close(descriptor);
    return;
  }
  place->descriptor = descriptor;
  place->length = 0;
  place->caller = {.user = *user};
  place->last_heard = now;
  wake_.watch(descriptor);
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

// Returns false if the connection must be closed.
bool ControlServer::answer_lines(Client& client) {
  while (true) {
    char* const begin = client.line.data();
    char* const end = begin + client.length;
    char* const newline = std::find(begin, end, '\n');
    if (newline == end) break;
    const Answer answer =
        handler_(std::string_view(begin, static_cast<std::size_t>(newline - begin)), client.caller);
    if (!send(client, answer.text) || answer.close) return false;
    std::copy(newline + 1, end, begin);
    client.length = static_cast<std::size_t>(end - (newline + 1));
  }
  if (client.length < client.line.size()) return true;
  send(client, "error: the line is too long\n");
  return false;
}

bool ControlServer::send(Client& client, std::string_view text) {
  // A whole answer fits into the socket's empty buffer. If it does not fit now, the client has not
  // read earlier answers, and the caller closes the connection.
  return ::send(client.descriptor, text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

void ControlServer::close(Client& client) {
  if (client.descriptor < 0) return;
  wake_.unwatch(client.descriptor);
  ::close(client.descriptor);
  client.descriptor = -1;
}

}  // namespace satrelay::ops
