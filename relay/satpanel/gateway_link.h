// The panel's connection to a gateway: sends queries to its stats socket and lines to its control
// socket. All functions may be called from any thread. Each query has a connection to itself, and a
// few connections stay open for later queries.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "relay/client/stats_client.h"
#include "relay/metrics/readings.h"

namespace satrelay::panel {

using Json = nlohmann::ordered_json;

struct GatewaySockets {
  // Path of the stats socket, or a stats_socket_prefix. "" means the only gateway on this machine.
  std::string stats;
  std::string control;  // a path; "" means the control socket in the folder of the stats socket
};

class GatewayLink {
 public:
  explicit GatewayLink(GatewaySockets sockets) : sockets_(std::move(sockets)) {}

  // Returns the value in the answer, which is never null. Throws ctl::StatsError with the reason.
  Json query(const std::string& command);
  // Returns up to `count` entries of a listing, beginning with entry `first`.
  Json query_page(const std::string& command, std::size_t first, std::size_t count);
  Json query_all(const std::string& command);
  // Reads all replies that metrics::read_gateway() reads. Never throws ctl::StatsError.
  metrics::Readings read();
  // Returns the answer of the control socket, which may have several lines. Throws
  // std::runtime_error.
  std::string control(const std::string& line) const;
  // Does the same as ops::await_reload().
  std::string await_reload(const std::function<bool()>& go_on) const;
  // Throws ctl::StatsError.
  std::filesystem::path stats_socket() const;

 private:
  template <typename Ask>
  auto with_client(const Ask& ask);
  std::string control_socket() const;

  GatewaySockets sockets_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ctl::StatsClient>> idle_;
};

}  // namespace satrelay::panel
