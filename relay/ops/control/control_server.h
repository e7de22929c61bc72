// The control socket of a program: a UNIX stream socket, a command a line, an answer for each. It
// belongs to the loop that does the program's work: nothing here waits, and a handler may touch
// what that loop owns.
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
    std::string text;  // one line or more, each ended
    bool close = false;
  };
  using Handler = std::function<Answer(std::string_view line, const Caller& caller)>;

  // How the loop is told to wake when a descriptor becomes readable, and no longer.
  struct Wake {
    std::function<void(int descriptor)> watch;
    std::function<void(int descriptor)> unwatch;
  };

  // Opens the socket with the mode, so that only its owner, root and, if there is one, the group
  // can connect; who connects is asked for all the same. A stale file is replaced. Throws
  // std::runtime_error, also if another process serves this path.
  ControlServer(const std::string& path, Wake wake, Handler handler,
                const SocketAccess& access = {});
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer();

  // Does what there is to do; cheap to call often, looks every few milliseconds.
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
