// The panel's HTTP server, which uses libmicrohttpd. It serves this machine only: a loopback
// address, or a UNIX socket for a web server. One thread serves all connections and never blocks. A
// few threads call the handler. The numbers of connections, waiting requests and streams are
// limited, as is the size of a body, and each connection has a deadline. So a slow client delays
// others only briefly.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "relay/ops/control/socket_access.h"
#include "relay/satpanel/http/http.h"

namespace satrelay::panel {

struct ServerLimits {
  unsigned connections = 512;
  unsigned streams = 64;
  std::size_t body = 64 * 1024;  // largest size of a request's body, in bytes
  std::size_t waiting = 64;      // maximum number of requests that wait for a thread
  int threads = 3;
  // A connection is closed if no bytes are read or written for this long.
  std::chrono::seconds idle{20};
  // Time from the end of the previous answer until a request is complete.
  std::chrono::seconds request{15};
  // Used instead of `request` while more than three quarters of the connections are in use.
  std::chrono::seconds crowded{3};
  // How long it may take to send an answer. Each 64 kB of the answer add a second.
  std::chrono::seconds answer{120};
  std::size_t unread = 64'000'000;  // maximum number of unsent bytes of all answers together
  // Interval of heartbeats on a stream that sends nothing else.
  std::chrono::seconds heartbeat{10};
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // a loopback address, IPv4 or IPv6
  std::uint16_t port = 0;             // 0 means any free port
  // Path of a UNIX socket. If it is given, the server listens there instead, and takes a client's
  // address from the headers of the web server that connects to it (forwarding.h).
  std::string socket = {};
  ops::SocketAccess access = {};  // the users that may connect to `socket`
  ServerLimits limits = {};
};

// Whether `address` is a loopback address, which only clients on this machine reach.
inline bool is_loopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

class HttpServer {
 public:
  // Opens the socket, and answers requests by calling `handler` from several threads. Throws
  // std::runtime_error with the reason, for example a port that is in use.
  HttpServer(const ServerOptions& options, Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  std::uint16_t port() const;  // 0 if it listens at a UNIX socket
  // Makes the server poll all streams for new bytes. May be called from any thread.
  void wake_streams();

  struct Counters {
    std::uint64_t requests = 0;
    std::uint64_t connections_cut = 0;  // connections that a deadline ended
    std::uint64_t refused_busy = 0;     // streams and requests answered with 503
    std::uint64_t refused_long = 0;     // requests answered with 413
  };
  Counters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace satrelay::panel
