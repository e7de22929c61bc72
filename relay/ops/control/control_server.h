// Serves the control socket of a program: a UNIX stream socket with one command per line, and an
// answer to each command. The server runs in the program's main loop, so it must never block. A
// handler may use the main loop's data.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "pep/base/time.h"
#include "relay/ops/control/caller.h"
#include "relay/ops/control/unix_listener.h"

namespace satrelay::ops {

class ControlServer {
 public:
  struct Answer {
    std::string text;  // one or more lines, each with its newline
    bool close = false;
  };
  using Handler = std::function<Answer(std::string_view line, const Caller& caller)>;

  // watch() makes the main loop wake when the descriptor becomes readable. unwatch() undoes this.
  struct Wake {
    std::function<void(int descriptor)> watch;
    std::function<void(int descriptor)> unwatch;
  };

  // Opens the socket, and replaces a stale file. Only the owner of the socket, root and the members
  // of the group in `access` can connect; the server also checks the user of each connection.
  // Throws std::runtime_error, also if another process serves this path.
  ControlServer(const std::string& path, Wake wake, Handler handler,
                const SocketAccess& access = {});
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer();

  // Accepts clients and answers their lines. Frequent calls are cheap: the server checks the
  // sockets only every few milliseconds.
  void service(Instant now);

 private:
  static constexpr int kMostClients = 4;
  static constexpr std::size_t kLongestLine = 256;
  struct Client {
    int descriptor = -1;
    std::size_t length = 0;
    std::array<char, kLongestLine> line{};
    Caller caller;
    Instant last_heard;
  };
  void accept_clients(Instant now);
  void read_from(Client& client, Instant now);
  bool answer_lines(Client& client);
  bool send(Client& client, std::string_view text);
  void close(Client& client);

  UnixListener listener_;
  Wake wake_;
  Handler handler_;
  std::array<Client, kMostClients> clients_;
  Instant next_look_;
};

}  // namespace satrelay::ops
