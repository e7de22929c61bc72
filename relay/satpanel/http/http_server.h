// The panel's HTTP server, on libmicrohttpd. One thread, which never waits, serves all connections.
// A few threads call the handler. Connections, bodies, waiting requests and streams have limits,
// and each connection has a deadline, so that slow clients block others only briefly.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "relay/satpanel/http/http.h"

namespace satrelay::panel {

struct ServerLimits {
  unsigned connections = 512;
  unsigned streams = 64;
  std::size_t body = 64 * 1024;  // bytes
  std::size_t waiting = 64;      // requests that wait for a thread
  int threads = 3;
  // How long a connection may stay open if no bytes are read or written.
  std::chrono::seconds idle{20};
  std::chrono::seconds request{15};  // from the previous answer's end to the request's last byte
  // Replaces `request` while more than three quarters of the connections are in use.
  std::chrono::seconds crowded{3};
  // How long the sending of an answer may take. Each 64 kB of the answer add a second.
  std::chrono::seconds answer{120};
  std::size_t unread = 64'000'000;       // bytes of answers to all clients that are not sent yet
  unsigned connections_of_address = 64;  // no limit on a loopback address
  // Interval of heartbeats on a stream that has nothing to send.
  std::chrono::seconds heartbeat{10};
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // an IPv4 or IPv6 address
  std::uint16_t port = 0;             // 0: any free port
  // Texts in PEM; either both or none. If they are given, the server speaks only HTTPS, with TLS
  // 1.2 or later.
  std::string certificate = {};
  std::string key = {};
  ServerLimits limits = {};
};

// Whether `address` is a loopback address. All clients of such a server have the same address.
inline bool is_loopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

class HttpServer {
 public:
  // Listens, and answers requests by calls of `handler` in several threads. Throws
  // std::runtime_error that says what is wrong, for example with the certificate.
  HttpServer(const ServerOptions& options, Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  std::uint16_t port() const;
  // Makes the server ask all streams for new bytes. Any thread.
  void wake_streams();

  struct Counters {
    std::uint64_t requests = 0;
    std::uint64_t connections_cut = 0;  // ended by a deadline
    std::uint64_t refused_busy = 0;     // streams and requests answered with 503
    std::uint64_t refused_long = 0;     // 413
  };
  Counters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace satrelay::panel
