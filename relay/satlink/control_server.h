// The control socket: a UNIX stream socket, a command a line, an answer for each. It belongs to the
// loop that runs the link: nothing here waits.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "pep/base/time.h"
#include "relay/dpdk/poll_loop.h"

namespace satrelay::satlink {

class ControlServer {
 public:
  struct Answer {
    std::string text;  // one line or more, each ended
    bool close = false;
  };
  using Handler = std::function<Answer(std::string_view line)>;

  // Opens the socket with mode 0600, so that only its owner (and root) can connect. A stale file is
  // replaced. Throws std::runtime_error, also if another process serves this path.
  ControlServer(const std::string& path, dpdk::PollLoop& loop, Handler handler);
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer();

  // Does what there is to do; cheap to call often, looks every few milliseconds.
  void service(Instant now);

 private:
  static constexpr std::size_t kMostClients = 4;
  static constexpr std::size_t kLongestLine = 256;
  struct Client {
    int descriptor = -1;
    std::size_t length = 0;
    std::array<char, kLongestLine> line{};
    Instant last_heard;
  };
  void accept_clients(Instant now);
  void read_from(Client& client, Instant now);
  bool answer_lines(Client& client);
  bool send(Client& client, std::string_view text);
  void close(Client& client);

  std::string path_;
  dpdk::PollLoop& loop_;
  Handler handler_;
  int listener_ = -1;
  std::array<Client, kMostClients> clients_;
  Instant next_look_;
};

// The client's side: sends one line, returns the answer. Throws std::runtime_error.
std::string send_control_command(const std::string& path, std::string_view line);

}  // namespace satrelay::satlink
