// The HTTP server of the panel, on libmicrohttpd: one thread for all connections, which never
// waits, and a few that call the handler. Connections, bodies, requests that wait and streams have
// limits, and each connection a deadline, so that slow clients take nothing from others for long.
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
  std::chrono::seconds idle{20};     // nothing is read or written
  std::chrono::seconds request{15};  // from the end of the answer before to its last byte
  std::chrono::seconds crowded{3};   // the same while three quarters of the connections are taken
  // From the answer's first byte, and a second more for each 64 kB.
  std::chrono::seconds answer{120};
  std::size_t unread = 64'000'000;       // bytes of answers that were not sent yet, of all clients
  unsigned connections_of_address = 64;  // but on a loopback address
  std::chrono::seconds heartbeat{10};    // of a stream that has nothing to say
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // of IPv4 or IPv6
  std::uint16_t port = 0;             // 0: any that is free
  // PEM; both or none. With them HTTPS is spoken, of TLS 1.2 or later, and nothing else.
  std::string certificate = {};
  std::string key = {};
  ServerLimits limits = {};
};

// Where all clients have one address.
inline bool is_loopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

class HttpServer {
 public:
  // Listens, and answers by `handler` from several threads. Throws std::runtime_error with what is
  // wrong, among other things with the certificate.
  HttpServer(const ServerOptions& options, Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  std::uint16_t port() const;
  // There is something new for them. Any thread.
  void wake_streams();

  struct Counters {
    std::uint64_t requests = 0;
    std::uint64_t connections_cut = 0;  // by a deadline
    std::uint64_t refused_busy = 0;     // 503, of streams and of requests
    std::uint64_t refused_long = 0;     // 413
  };
  Counters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace satrelay::panel
