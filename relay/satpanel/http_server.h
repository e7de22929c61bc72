// The HTTP server of the panel, on libmicrohttpd: one thread for all connections, which never
// waits, and a few that call the handler. Connections, bodies, requests that wait and streams have
// limits, and each connection a deadline, so that slow clients take nothing from others for long.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "relay/satpanel/http.h"

namespace satrelay::panel {

struct ServerOptions {
  std::string address = "127.0.0.1";  // of IPv4 or IPv6
  std::uint16_t port = 0;             // 0: any that is free
  // PEM; both or none. With them HTTPS is spoken, and nothing else.
  std::string certificate;
  std::string key;
};

struct ServerLimits {
  static constexpr unsigned kConnections = 512;
  static constexpr unsigned kStreams = 64;
  static constexpr std::size_t kBody = 64 * 1024;  // bytes
  static constexpr std::size_t kWaiting = 64;      // requests that wait for a thread
  static constexpr int kThreads = 3;
  static constexpr int kIdleSeconds = 20;     // nothing is read or written
  static constexpr int kRequestSeconds = 15;  // from its first byte to its last
  static constexpr int kCrowdedSeconds = 3;   // the same while three quarters are taken
  static constexpr int kHeartbeatSeconds = 10;
};

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
